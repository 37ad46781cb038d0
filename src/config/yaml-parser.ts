/** Parses a file's text into a document. */

import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { Composer } from './yaml-composer.ts'
import { Document } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import { syntaxFault } from './yaml-faults.ts'

/** @param file the path to display */
export function parse(file: string, source: Source, env: NodeJS.ProcessEnv): Document {
  const lines = new LineCounter()
  const document = new Document(file, lines)
  if ('text' in source) {
    parseText(document, lines, source.text, env)
  } else {
    const { line, column, message } = source
    document.faults.push({ place: { file, line, column }, message })
  }
  return document
}

function parseText(document: Document, lineCounter: LineCounter, text: string, env: NodeJS.ProcessEnv): void {
  const yaml = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    version: '1.2',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // The composer finds duplicate keys: the parser's own check takes quadratic time.
    uniqueKeys: false,
  })
  const { contents } = yaml
  const syntax = syntaxFault(yaml, text)
  if (syntax !== null) document.fault(syntax.at, syntax.message)
  else if (yaml.directives?.yaml.version !== '1.2')
    document.fault(0, 'only YAML 1.2 is supported: remove the %YAML line')
  else if (isMap(contents)) document.root = new Composer(document, env).compose(contents)
  else if (contents === null || (isScalar(contents) && contents.value === null))
    document.fault(0, 'the file is empty')
  else document.fault(contents.range?.[0] ?? 0, 'the file must be a map: lines of "key: value"')
}
