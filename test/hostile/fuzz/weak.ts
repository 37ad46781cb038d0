/**
 * Breaks a gateway on purpose before it is loaded, with `--import` and the variable `FUZZ_WEAKNESS`; the fuzzer has to
 * find each fault.
 */

import { registerHooks } from 'node:module'

/** An edit of a source file: a text in it, and its replacement. */
interface Edit {
  readonly file: string
  readonly text: string
  readonly by: string
}

const EDITS: Readonly<Record<string, Edit>> = {
  'no guard': {
    file: 'src/http/server/request-validation.ts',
    text: '): Refusal | null {\n  const { headerFields }',
    by: '): Refusal | null {\n  if (request) return null\n  const { headerFields }',
  },
  'several Hosts': {
    file: 'src/http/server/request-validation.ts',
    text: 'if (request.hosts > 1) return manyHosts',
    by: '',
  },
  'dot segments': {
    file: 'src/decision/router/path.ts',
    text: 'if (isDotSegment(path, start, at)) return dotSegment',
    by: '',
  },
  'dot segments beside encoded slashes': {
    file: 'src/decision/router/path.ts',
    text: 'if (HIDDEN_DOT_SEGMENT.test(out)) return dotSegment',
    by: '',
  },
  'encoded slashes for any upstream': {
    file: 'src/decision/router/ambiguity.ts',
    text: 'if (target.encodedSlash && !allowEncodedSlashes)',
    by: 'if (target.encodedSlash && route === null)',
  },
  'requests behind the last': {
    file: 'src/http/server/http1-connection.ts',
    text: 'this.#discardsPipelined ||\n      !response.shouldKeepAlive ||',
    by: 'this.#discardsPipelined ||',
  },
  'lengths beside chunks': {
    file: 'src/http/wire/header-section.ts',
    text: 'throw twoFramings()',
    by: 'void 0',
  },
  'headers of the request before': {
    file: 'src/http/wire/header-section.ts',
    text: 'export function headerSection(head: HeadText, from: number): HeaderSection {',
    by: `const before: HeaderSection[] = []
export function headerSection(head: HeadText, from: number): HeaderSection {
  return (before[head.end - from] ??= readSection(head, from))
}
function readSection(head: HeadText, from: number): HeaderSection {`,
  },
  'blanks in names': {
    file: 'src/http/wire/field-name.ts',
    text: 'if (!token.test(character)) return 0',
    by: "if (character !== ' ' && !token.test(character)) return 0",
  },
  'names are not folded': {
    file: 'src/http/wire/field-name.ts',
    text: 'return HYPHEN | ODD',
    by: 'return byte',
  },
}

export const WEAKNESSES: readonly string[] = Object.keys(EDITS)

const { FUZZ_WEAKNESS } = process.env
const edit = EDITS[FUZZ_WEAKNESS ?? '']
if (FUZZ_WEAKNESS !== undefined && edit === undefined)
  throw new Error(`there is no weakness "${FUZZ_WEAKNESS}"`)
if (edit !== undefined)
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.endsWith(edit.file)) return loaded
      const source = String(loaded.source)
      if (!source.includes(edit.text)) throw new Error(`${edit.file} has no longer: ${edit.text}`)
      return { ...loaded, source: source.replace(edit.text, edit.by) }
    },
  })
