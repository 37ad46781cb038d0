// Requests of Go's net/http: the argument is JSON with base, ca, token, http2. Prints a result a line.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	var options struct {
		Base, Ca, Token string
		Http2           bool
	}
	check(json.Unmarshal([]byte(os.Args[1]), &options))
	pem, err := os.ReadFile(options.Ca)
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: options.Http2}
	if !options.Http2 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	client := &http.Client{Transport: transport}
	send := func(what, method, path string, body io.Reader, authorized bool) {
		request, err := http.NewRequest(method, options.Base+path, body)
		check(err)
		if authorized {
			request.Header.Set("Authorization", "Bearer "+options.Token)
			request.Header.Set("Space", "s1")
		}
		response, err := client.Do(request)
		check(err)
		content, err := io.ReadAll(response.Body)
		check(err)
		response.Body.Close()
		line, _ := json.Marshal([]interface{}{what, response.StatusCode, response.Proto, len(content)})
		fmt.Println(string(line))
	}
	send("get", "GET", "/v1/trainings", nil, true)
	send("upload", "POST", "/v1/trainings", bytes.NewReader(bytes.Repeat([]byte("x"), 1<<20)), true)
	send("401", "GET", "/v1/trainings", nil, false)
	send("403", "DELETE", "/v1/trainings/7", nil, true)
	send("stream", "GET", "/v1/files/stream", nil, true)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
