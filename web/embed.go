// Package web holds what a browser loads: the chat widget and the demo page, plain ES
// modules and style sheets without a build step. It only carries the files; package
// api serves them.
//
// index.html is an html/template that takes PublishableKey. widget.js is the entry
// that a page names in its one script tag; the modules that it imports stand beside
// it. Pages of other origins load them too, so they need "Access-Control-Allow-Origin: *".
package web

import "embed"

// Files are the served files, all in the root.
//
//go:embed *.html *.css *.js *.svg
var Files embed.FS
