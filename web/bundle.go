package web

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// entry is the script that a page names in its one tag.
const entry = "widget.js"

// bundle returns the widget as one script: entry with all that it imports, without comments
// and spare white space. It is made when it is served, out of the modules of this directory,
// so there is nothing to build beforehand.
func bundle() ([]byte, error) {
	made := api.Build(api.BuildOptions{
		EntryPoints: []string{entry}, Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		LogLevel: api.LogLevelSilent, Plugins: []api.Plugin{{Name: "embedded", Setup: embedded}},
	})
	if len(made.Errors) > 0 {
		return nil, fmt.Errorf("bundle %s: %s", entry, made.Errors[0].Text)
	}
	if len(made.OutputFiles) != 1 {
		return nil, errors.New("bundle " + entry + ": not one file came out")
	}
	return made.OutputFiles[0].Contents, nil
}

// embedded lets the bundler read the modules in Files instead of those on a disk.
func embedded(build api.PluginBuild) {
	const space = "embedded"
	build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: path.Clean(args.Path), Namespace: space}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: space}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		content, err := Files.ReadFile(args.Path)
		if err != nil {
			return api.OnLoadResult{}, fmt.Errorf("read module %s: %w", args.Path, err)
		}
		text := string(tightSheets(content))
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}

// The style sheets inside modules are texts to the bundler. Their line breaks and indents
// mean nothing, nor do spaces after a colon or a comma, and they hold no texts of their own
// with one of these signs, a brace or a semicolon.
var (
	sheets = regexp.MustCompile("(?s)`\n.*?\n`")
	spare  = regexp.MustCompile(`(?s)/\*.*?\*/|\s*\n\s*`)
	around = regexp.MustCompile(`\s*([{};])\s*|([:,])\s+`)
)

func tightSheets(module []byte) []byte {
	return sheets.ReplaceAllFunc(module, func(sheet []byte) []byte {
		tight := spare.ReplaceAll(sheet, []byte(" "))
		return bytes.TrimSpace(around.ReplaceAll(tight, []byte("$1$2")))
	})
}
