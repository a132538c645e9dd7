package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sluice/internal/knowledge"
	"sluice/internal/queue"
)

// Who keeps documents up to date that no operator does.
const (
	originShipped = "shipped"
	originFolder  = "folder"
)

// stockTries bounds how often a publication begins again after meeting another one, and
// stockAgain is the pause after one that failed for good.
const (
	stockTries = 5
	stockAgain = time.Minute
)

// keepStock publishes what the rules name, at the start and when they change, until ctx
// ends. What fails is tried again; a fault in the folder is told once a change.
func (l *library) keepStock(ctx context.Context) {
	for {
		again := (<-chan time.Time)(nil)
		if err := l.stockUp(ctx); err != nil && ctx.Err() == nil {
			l.log.Error().Err(err).Msg("documents of the rules cannot be published, what is in force holds")
			if !errors.Is(err, knowledge.ErrBounds) && !errors.Is(err, fs.ErrNotExist) {
				again = time.After(stockAgain)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-again:
		}
	}
}

// stockUp publishes the folder's documents where they differ from what is published, or
// the shipped ones where nothing ever was.
func (l *library) stockUp(ctx context.Context) error {
	k := l.rules().Knowledge
	for try := 1; ; try++ {
		v, err := l.queue.Knowledge(ctx)
		none := errors.Is(err, queue.ErrNotFound)
		switch {
		case err != nil && !none:
			return err
		case k.Folder != "":
			err = l.stockFolder(ctx, v, k.Folder)
		case none && k.Shipped:
			err = l.stockShipped(ctx, v)
		default:
			return nil
		}
		if !errors.Is(err, queue.ErrLost) || try == stockTries {
			return err
		}
	}
}

func (l *library) stockShipped(ctx context.Context, v queue.KnowledgeVersion) error {
	shipped, err := knowledge.Shipped()
	if err != nil {
		return err
	}
	var all []queue.Document
	for _, d := range shipped {
		kept, err := l.queue.KeepText(ctx, d.Name, d.Text)
		if err != nil {
			return err
		}
		kept.Origin = originShipped
		all = append(all, kept)
	}
	return l.publish(ctx, v, all, "documents of the demo shop")
}

// stockFolder replaces what came from the folder before, and the shipped documents. Those
// of operators stay, unless the folder has one of the same name.
func (l *library) stockFolder(ctx context.Context, v queue.KnowledgeVersion, folder string) error {
	before, err := l.queue.Documents(ctx, v)
	if err != nil {
		return err
	}
	var changes []queue.Change
	known := map[queue.Document]bool{}
	for _, d := range before {
		if known[d] = true; d.Origin != "" {
			changes = append(changes, queue.Change{Document: d, Removed: true})
		}
	}
	gone := len(changes)
	err = walkFolder(folder, func(d knowledge.Document) error {
		if len(changes)-gone == knowledge.MaxDocuments {
			return fmt.Errorf("folder %s: more than %d documents: %w", folder, knowledge.MaxDocuments, knowledge.ErrBounds)
		}
		filed := queue.DocumentOf(d.Name, d.Text)
		if filed.Origin = originFolder; !known[filed] {
			if _, err := l.queue.KeepText(ctx, d.Name, d.Text); err != nil {
				return err
			}
		}
		changes = append(changes, queue.Change{Document: filed})
		return nil
	})
	if err != nil {
		return err
	}
	after := queue.Apply(before, changes)
	if slices.Equal(before, after) && v.Rev > 0 {
		return nil
	}
	return l.publish(ctx, v, after, "folder "+folder)
}

// walkFolder reads the documents of a folder and those below it, in the order of their names.
func walkFolder(folder string, do func(knowledge.Document) error) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read folder %s: %w", folder, err)
		}
		if entry.IsDir() || !knowledge.Known(file) {
			return nil
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return fmt.Errorf("read folder %s: %w", folder, err)
		}
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read document: %w", err)
		}
		defer func() { _ = f.Close() }()
		d, err := knowledge.Read(filepath.ToSlash(name), f)
		if err != nil {
			return err
		}
		return do(d)
	})
}

func (l *library) publish(ctx context.Context, v queue.KnowledgeVersion, documents []queue.Document, why string) error {
	by := queue.Authorship{Actor: "sluice", Reason: why}
	next, err := l.queue.PublishDocuments(ctx, v, documents, by)
	if err != nil {
		return err
	}
	return l.queue.Note(ctx, queue.Audit{
		At: next.At, Actor: by.Actor, Action: "knowledge.publish", Target: fmt.Sprint(next.Rev), Reason: by.Reason,
	})
}
