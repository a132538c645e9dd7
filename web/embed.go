// Package web holds what a browser loads: the chat widget, the demo page and the operators'
// page, plain ES modules and style sheets without a build step. It only carries the files;
// package api serves them.
//
// index.html is an html/template that takes PublishableKey. widget.js is the entry that a
// page names in its one script tag; it is served as one script with all that it imports.
// Pages of other origins load it too, so it needs "Access-Control-Allow-Origin: *". The
// operators' page is in admin/; its main.js says how it is made.
package web

import "embed"

// Files are the sources of what is served, the operators' page in admin, all else in the root.
//
//go:embed *.html *.css *.js *.svg admin
var Files embed.FS
