// A server of Go's own HTTP/2: the windows come back as handlers read. /unread reads nothing while its client waits; any
// other path answers with the number of bytes in the body. Prints its port.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/unread", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		read, err := io.Copy(io.Discard, r.Body)
		if err == nil {
			fmt.Fprint(w, read)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.ServeTLS(listener, nil, os.Args[1], os.Args[2]))
}
