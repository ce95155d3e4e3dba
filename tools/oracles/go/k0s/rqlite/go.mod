module github.com/rqlite/rqlite

go 1.26
