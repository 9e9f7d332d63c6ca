// The least that a server written by hand for the job would do in Go: it takes batches of entries and stores each entry as a
// row, durably, with one sync for all that arrive together. No credentials, no validation, no redaction, no ledger.
//
//	go-floor DIRECTORY
//
// Prints {"url"} once it answers. The path of a request names the stream.
package main

import (
	"compress/gzip"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

type entry struct {
	Seq             int64           `json:"seq"`
	Payload         json.RawMessage `json:"payload"`
	ClientTimestamp string          `json:"clientTimestamp"`
}

type batch struct {
	Entries []entry `json:"entries"`
}

type delivery struct {
	stream  int64
	entries []entry
	stored  chan error
}

const (
	rowsAStatement = 50
	// What one transaction holds at most, so that nobody waits for more than these.
	deliveriesACommit = 256
	checkpointEvery   = 500 * time.Millisecond
	schema            = `CREATE TABLE floor_entries (
	  id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL, seq INTEGER NOT NULL, delivery_id INTEGER NOT NULL,
	  client_timestamp TEXT, payload TEXT NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX floor_entries_by_seq ON floor_entries (stream_id, seq)`
)

// Straight to the driver: database/sql would cost more than it gives to one writer.
func open(path string) *sqlite3.SQLiteConn {
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + path + "?_journal_mode=WAL&_synchronous=FULL&_cache_size=-32768&_busy_timeout=5000")
	if err != nil {
		log.Fatal(err)
	}
	db := conn.(*sqlite3.SQLiteConn)
	run(db, "PRAGMA wal_autocheckpoint = 0")
	return db
}

func run(db *sqlite3.SQLiteConn, sql string) {
	if _, err := db.Exec(sql, nil); err != nil {
		log.Fatalf("%s: %v", sql, err)
	}
}

func prepare(db *sqlite3.SQLiteConn, sql string) driver.Stmt {
	stmt, err := db.Prepare(sql)
	if err != nil {
		log.Fatalf("%s: %v", sql, err)
	}
	return stmt
}

// Stores what arrives, all that waits in one transaction.
func write(db *sqlite3.SQLiteConn, arrivals <-chan *delivery) {
	insertOf := func(rows int) driver.Stmt {
		values := strings.TrimSuffix(strings.Repeat("(?, ?, 1, ?, ?), ", rows), ", ")
		return prepare(db, "INSERT INTO floor_entries (stream_id, seq, delivery_id, client_timestamp, payload) VALUES "+values)
	}
	begin, commit, rollback := prepare(db, "BEGIN IMMEDIATE"), prepare(db, "COMMIT"), prepare(db, "ROLLBACK")
	insertMany, insertOne := insertOf(rowsAStatement), insertOf(1)
	values := make([]driver.Value, 0, 4*rowsAStatement)
	store := func(group []*delivery) error {
		if _, err := begin.Exec(nil); err != nil {
			return err
		}
		for _, one := range group {
			for at := 0; at < len(one.entries); {
				rows, insert := 1, insertOne
				if at+rowsAStatement <= len(one.entries) {
					rows, insert = rowsAStatement, insertMany
				}
				values = values[:0]
				for _, e := range one.entries[at : at+rows] {
					values = append(values, one.stream, e.Seq, e.ClientTimestamp, string(e.Payload))
				}
				if _, err := insert.Exec(values); err != nil {
					rollback.Exec(nil)
					return err
				}
				at += rows
			}
		}
		_, err := commit.Exec(nil)
		return err
	}
	for first := range arrivals {
		group := []*delivery{first}
		for len(group) < deliveriesACommit && len(arrivals) > 0 {
			group = append(group, <-arrivals)
		}
		err := store(group)
		for _, one := range group {
			one.stored <- err
		}
	}
}

func handler(arrivals chan<- *delivery) http.HandlerFunc {
	return func(reply http.ResponseWriter, request *http.Request) {
		stream, err := strconv.ParseInt(request.URL.Path[1:], 10, 64)
		body := io.Reader(request.Body)
		if err == nil && request.Header.Get("Content-Encoding") == "gzip" {
			body, err = gzip.NewReader(request.Body)
		}
		var sent batch
		if err == nil {
			var text []byte
			if text, err = io.ReadAll(body); err == nil {
				err = json.Unmarshal(text, &sent)
			}
		}
		if err == nil {
			one := &delivery{stream, sent.Entries, make(chan error, 1)}
			arrivals <- one
			err = <-one.stored
		}
		if err != nil {
			http.Error(reply, err.Error(), http.StatusInternalServerError)
			return
		}
		answer := fmt.Sprintf(`{"ok":true,"accepted":%d}`, len(sent.Entries))
		reply.Header().Set("Content-Type", "application/json")
		reply.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		io.WriteString(reply, answer)
	}
}

func main() {
	path := filepath.Join(os.Args[1], "reckon.db")
	db := open(path)
	run(db, schema)
	arrivals := make(chan *delivery, 1024)
	go write(db, arrivals)
	go func() {
		beside := open(path)
		for range time.Tick(checkpointEvery) {
			run(beside, "PRAGMA wal_checkpoint(PASSIVE)")
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(listener, handler(arrivals))
	fmt.Printf("{\"url\":\"http://%s\"}\n", listener.Addr())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
}
