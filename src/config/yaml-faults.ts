/**
 * Messages for the YAML parser's errors. The parser's own messages are not shown: some quote the file, which may contain
 * secrets.
 */

import { type Document, isCollection, isScalar, type Node, visit, type YAMLError } from 'yaml'

type Code = YAMLError['code']

const MESSAGES: Readonly<Partial<Record<Code, string>>> = {
  BAD_ALIAS: 'a value that begins with * or & must be in quotes, unless it is an alias or an anchor',
  BAD_COLLECTION_TYPE: 'the tag does not match the type of its value',
  BAD_DIRECTIVE: 'unknown directive: a line that begins with % is a directive',
  BAD_DQ_ESCAPE: 'unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation: all entries of a map or list begin in the same column',
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a map cannot begin here: a value that contains ": " must be in quotes, and a nested map begins on its own line',
  BLOCK_IN_FLOW: 'inside [ ] and { }, nested maps and lists also need [ ] and { }',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters',
  MISSING_CHAR: 'a comma, a colon, a closing quote or a closing bracket is missing here',
  MULTILINE_IMPLICIT_KEY:
    'this line is not "key: value": the colon and the space after the key are missing, or the indentation is wrong',
  MULTIPLE_DOCS: 'a second document begins here: a file must hold one document',
  NON_STRING_KEY: 'a key must be a string',
  RESOURCE_EXHAUSTION: 'maps and lists are nested too deeply',
  TAB_AS_INDENT: 'a tab in the indentation: YAML allows spaces only',
  TAG_RESOLVE_FAILED: 'unknown tag (!…): a value that begins with ! must be in quotes',
  UNEXPECTED_TOKEN: 'unexpected character: a value with special characters must be in quotes',
}

/** The first error, which usually causes the others. @returns its offset in the text, and the message */
export function syntaxFault(document: Document, text: string): { at: number; message: string } | null {
  const error = document.errors[0] ?? document.warnings[0]
  if (error === undefined) return null
  const at = error.pos[0]
  const open = unclosed(document, error)
  if (open !== null) return { at: open, message: `this ${text[open]} is not closed` }
  if (text.slice(at - 1, at + 1) === '${' || text.slice(at, at + 2) === '${')
    return { at, message: `inside [ ] and { }, a \${…} must be in quotes` }
  return { at, message: MESSAGES[error.code] ?? 'this is not valid YAML' }
}

/** Offset of the unclosed quote or bracket. The parser reports it only at the end of the text. */
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
