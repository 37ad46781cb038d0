// Renders the templates of a Helm chart by the engine that Helm has (text/template) and its functions (sprig), for
// machines without Helm. Of Helm's own functions it has those that the chart uses: include, required and toYaml.
//
// Usage: render FOLDER < {"Values": …, "Release": …, "Chart": …}. It prints a JSON object: name of the template, its text.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type object = map[string]interface{}

func main() {
	rendered, err := render(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(rendered)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(folder string) (map[string]string, error) {
	var given object
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return nil, err
	}
	base := filepath.Base(folder) + "/templates"
	all, names, err := parsed(folder, base)
	if err != nil {
		return nil, err
	}
	rendered := map[string]string{}
	for _, name := range names {
		given["Template"] = object{"Name": name, "BasePath": base}
		text, err := execute(all, name, given)
		if err != nil {
			return nil, err
		}
		// As Helm does with a value that is not there.
		rendered[filepath.Base(name)] = strings.ReplaceAll(text, "<no value>", "")
	}
	return rendered, nil
}

func parsed(folder, base string) (*template.Template, []string, error) {
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		name := base + "/" + filepath.Base(file)
		if _, err := all.New(name).Parse(string(text)); err != nil {
			return nil, nil, err
		}
		if !strings.HasPrefix(filepath.Base(file), "_") {
			names = append(names, name)
		}
	}
	return all, names, nil
}

func execute(all *template.Template, name string, data interface{}) (string, error) {
	var text strings.Builder
	err := all.ExecuteTemplate(&text, name, data)
	return text.String(), err
}

func functions(all *template.Template) template.FuncMap {
	found := sprig.TxtFuncMap()
	found["include"] = func(name string, data interface{}) (string, error) { return execute(all, name, data) }
	found["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	found["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	return found
}
