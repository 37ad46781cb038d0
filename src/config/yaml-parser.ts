/** Parses a file's text into a document. */

import {
  type Document as YamlDocument,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import { Composer, type IsNeeded, NESTED, UNKNOWN_TAG } from './yaml-composer.ts'
import { quote } from './invalid-value.ts'
import { Document } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import { type SchemaName, schemas } from './schema.ts'

/** @param file the path to display */
export function parse(file: string, source: Source, kind: SchemaName, env: NodeJS.ProcessEnv): Document {
  return parsed(file, source, kind, env, null)
}

/**
 * Without an environment: values with variables, and those that name files, are left out without a fault.
 *
 * @param isNeeded whether the value at a path of keys can't be left out
 */
export function parseAnywhere(file: string, source: Source, kind: SchemaName, isNeeded: IsNeeded): Document {
  return parsed(file, source, kind, {}, isNeeded)
}

function parsed(
  file: string,
  source: Source,
  kind: SchemaName,
  env: NodeJS.ProcessEnv,
  isNeeded: IsNeeded | null,
): Document {
  const lines = new LineCounter()
  const document = new Document(file, lines, isNeeded !== null)
  if ('text' in source) {
    const { required } = schemas[kind]
    parseText(document, lines, source.text, new Composer(document, env, isNeeded ?? everything), required)
  } else {
    const { line, column, message } = source
    document.faults.push({ place: { file, line, column }, message })
  }
  return document
}

const everything: IsNeeded = () => true

/** @param required keys that the file must have */
function parseText(
  document: Document,
  lineCounter: LineCounter,
  text: string,
  composer: Composer,
  required: readonly string[],
): void {
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
  else if (isMap(contents)) document.root = composer.compose(contents)
  else if (contents === null || (isScalar(contents) && contents.value === null))
    document.fault(0, `the file is empty: it must have ${required.map(quote).join(' and ')}`)
  else document.fault(contents.range?.[0] ?? 0, 'the file must be a map: lines of "key: value"')
}

/**
 * Messages for the YAML parser's errors. The parser's own messages are not shown: some quote the file, which may contain
 * secrets.
 */
const MESSAGES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: 'a value that begins with * or & must be in quotes, unless it is an alias or an anchor',
  BAD_COLLECTION_TYPE: 'the tag does not match the type of its value: remove it',
  BAD_DIRECTIVE: 'unknown directive: remove the line, or put the value that begins with % in quotes',
  BAD_DQ_ESCAPE: 'unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation: all entries of a map or list begin in the same column',
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a map cannot begin here: a value that contains ": " must be in quotes, and a nested map begins on its own line',
  BLOCK_IN_FLOW: 'inside [ ] and { }, nested maps and lists also need [ ] and { }',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters: shorten it',
  MISSING_CHAR: 'a comma, a colon, a closing quote or a closing bracket is missing here',
  MULTILINE_IMPLICIT_KEY:
    'this line is not "key: value": the colon and the space after the key are missing, or the indentation is wrong',
  MULTIPLE_DOCS: 'a second document begins here: a file must hold one document',
  NON_STRING_KEY: 'a key must be a string, not a map, a list or an alias',
  RESOURCE_EXHAUSTION: NESTED,
  TAB_AS_INDENT: 'a tab in the indentation: YAML allows spaces only',
  TAG_RESOLVE_FAILED: UNKNOWN_TAG,
  UNEXPECTED_TOKEN: 'unexpected character: a value with special characters must be in quotes',
}

/** The first error, which usually causes the others. @returns its offset in the text, and the message */
function syntaxFault(document: YamlDocument, text: string): { at: number; message: string } | null {
  const error = document.errors[0] ?? document.warnings[0]
  if (error === undefined) return null
  const at = error.pos[0]
  const open = unclosed(document, error)
  if (open !== null)
    return {
      at: open,
      message: `this ${text[open]} is not closed: add ${CLOSING.get(text[open]) ?? text[open]}`,
    }
  if (text.slice(at - 1, at + 1) === '${' || text.slice(at, at + 2) === '${')
    return { at, message: `inside [ ] and { }, a \${…} must be in quotes` }
  return { at, message: MESSAGES[error.code] ?? 'this is not valid YAML' }
}

const CLOSING = new Map<string | undefined, string>([
  ['[', ']'],
  ['{', '}'],
])

/** Offset of the unclosed quote or bracket. The parser reports it only at the end of the text. */
function unclosed(document: YamlDocument, error: YAMLError): number | null {
  if (!/^Missing closing|end with a/.test(error.message)) return null
  let found: number | null = null
  const consider = (node: Node, opens: boolean) => {
    const [start, , end] = node.range ?? [0, 0, 0]
    if (opens && start < error.pos[0] && error.pos[0] <= end) found = start
  }
  visit(document, {
    Node: (_, node) => {
      if (isCollection(node)) consider(node, node.flow === true)
      else if (isScalar(node)) consider(node, node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')
    },
  })
  return found
}
