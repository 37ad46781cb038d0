/**
 * What a YAML parser says, in a sentence for people. The parser's own words are not passed on: some quote the file, and
 * what it stumbled over may be a secret.
 */

import { type Document, isCollection, isScalar, type Node, visit, type YAMLError } from 'yaml'

type Code = YAMLError['code']

const SENTENCES: Readonly<Partial<Record<Code, string>>> = {
  BAD_ALIAS: 'a value that begins with * or & must be in quotes (unless an alias or anchor is meant)',
  BAD_COLLECTION_TYPE: 'a tag does not fit what it stands before',
  BAD_DIRECTIVE: 'a line that begins with % is a directive, and not one that is known',
  BAD_DQ_ESCAPE: 'an escape that double quotes do not know: write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'the indentation does not fit: entries of one map or list begin in one column',
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a map can not begin here: a value with ": " in it must be in quotes, and a nested map begins on a line of its own',
  BLOCK_IN_FLOW: 'inside [ ] and { }, nested maps and lists are written with [ ] and { } too',
  KEY_OVER_1024_CHARS: 'a key is too long',
  MISSING_CHAR: 'something is missing here: a comma, a colon, or a closing quote or bracket',
  MULTILINE_IMPLICIT_KEY:
    'this line is no "key: value": a colon and a space after the key is missing, or the line is indented wrongly',
  MULTIPLE_DOCS: 'a second document begins here: a file holds one',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'maps and lists are nested too deeply',
  TAB_AS_INDENT: 'a tab: YAML indents with spaces',
  TAG_RESOLVE_FAILED: 'a tag (!…) that is not known here: a value that begins with ! must be in quotes',
  UNEXPECTED_TOKEN: 'this can not stand here: a value with special characters must be in quotes',
}

/** The first fault, which is the cause of most others. `at`: offset in the text. */
export function syntaxFault(document: Document, text: string): { at: number; message: string } | null {
  const error = document.errors[0] ?? document.warnings[0]
  if (error === undefined) return null
  const at = error.pos[0]
  const open = unclosed(document, error)
  if (open !== null) return { at: open, message: `this ${text[open]} is not closed` }
  if (text.slice(at - 1, at + 1) === '${' || text.slice(at, at + 2) === '${')
    return { at, message: `inside [ ] and { }, a \${…} must be in quotes` }
  return { at, message: SENTENCES[error.code] ?? 'this is not YAML' }
}

/** Where the quote or bracket stands that is missing its other half. The parser notices only at the end. */
function unclosed(document: Document, error: YAMLError): number | null {
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
