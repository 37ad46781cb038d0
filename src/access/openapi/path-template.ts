/**
 * Path templates of descriptions as patterns of a route table. OpenAPI defines `{name}` alone, which is one
 * segment. Generators also write the templates of their framework, whose parameters have patterns, types or
 * several segments.
 */

export interface ReadTemplate {
  /** The pattern of a table. A parameter within a segment stays as it is, which a table refuses. */
  readonly pattern: string
  /** The parts of the template that the pattern does not express. */
  readonly guesses: readonly string[]
  /** The parameters with slashes, according to the description, that are one segment in the pattern. */
  readonly narrowed: readonly string[]
}

/** A name of OpenAPI, without the syntax of a framework. */
const PLAIN = /^[\p{L}\p{N}_.$@ -]*(?<!\.\.\.)$/u
const NAME = String.raw`[\w-]+(?:\.[\w-]+)*`
/** A parameter of one segment: `{name:[^/]+}` of gorilla/mux and JAX-RS, `{name=*}` of google.api.http. */
const SEGMENT = new RegExp(String.raw`^${NAME}(?:\s*:\s*\[\^/\]\+|=\*)$`)
/**
 * A parameter for the rest of the path: `{+name}` (RFC 6570), `{name+}` (API Gateway), `{name*}` (hapi),
 * `{*name}`, `{**name}` (Spring, ASP.NET), `{name...}` (Go, Ktor), `{name:.*}` (gorilla/mux, JAX-RS),
 * `{name<.*>}` (Symfony), `{name=**}` (google.api.http).
 */
const REST = new RegExp(
  String.raw`^(?:(?:\+|\*{1,2})${NAME}|${NAME}(?:[+*]|\.{3}|\s*:\s*\.[*+]|<\.[*+]>|=\*\*))$`,
)

/**
 * Reads a template.
 *
 * @param multiSegment the names of parameters that contain slashes, according to the description
 * @returns a sentence if the template has no meaning in a table
 */
export function readTemplate(path: string, multiSegment: ReadonlySet<string>): ReadTemplate | string {
  const used = new Set<string>()
  const guesses: string[] = []
  const narrowed: string[] = []
  const segments = splitOutsideBraces(path)
  // Frameworks differ: one segment, or the rest of the path.
  if (segments.includes('*'))
    return '* is no parameter in a description: the rest of the path is written {name+}, one segment {name}'
  const written = segments.map((segment, index) => {
    const name = parameterOf(segment)
    if (name === null) {
      guesses.push(...guessesAbout(segment))
      return segment
    }
    const isRest = multiSegment.has(name) || REST.test(name)
    if (isRest && index === segments.length - 1) return '*'
    // A part of several segments, as in `{name=shelves/*}`, fits in no single segment.
    if (name.includes('/') && !SEGMENT.test(name)) return segment
    if (multiSegment.has(name)) narrowed.push(segment)
    else if (isRest)
      guesses.push(`${segment} counts as one segment: the rest of a path can only be at its end`)
    else if (!PLAIN.test(name) && !SEGMENT.test(name))
      guesses.push(
        `${segment} counts as one segment of any text, as a table knows no patterns and types; for the rest of the path, write {name+}`,
      )
    return `{${uniqueName(name, used)}}`
  })
  return { pattern: written.join('/'), guesses, narrowed }
}

/** Splits a path into segments. Patterns in braces may have slashes and braces. */
function splitOutsideBraces(path: string): string[] {
  const segments: string[] = []
  let [from, depth] = [0, 0]
  for (let at = 0; at < path.length; at++) {
    const char = path[at]
    if (char === '{') depth++
    else if (char === '}') depth--
    else if (char === '/' && depth <= 0) {
      segments.push(path.slice(from, at))
      from = at + 1
    }
  }
  return [...segments, path.slice(from)]
}

/** The text in the braces around a whole segment; null if it is no parameter. */
function parameterOf(segment: string): string | null {
  if (!/^\{[^]*\}$/.test(segment)) return null
  let depth = 0
  for (let at = 0; at < segment.length; at++) {
    if (segment[at] === '{') depth++
    else if (segment[at] === '}') depth--
    if (depth === 0 && at < segment.length - 1) return null
  }
  return depth === 0 ? segment.slice(1, -1) : null
}

/** Guesses about `:id` and `<int:id>`, parameters of frameworks. No path has `<` (RFC 3986, section 3.3). */
function guessesAbout(segment: string): string[] {
  return /^:\w|[<>]/.test(segment)
    ? [`${segment} counts as the text that it is: a parameter is written {name}`]
    : []
}

function uniqueName(name: string, used: Set<string>): string {
  const [bare = ''] = /^[\p{L}\p{N}_.$@ -]+/u.exec(name.replace(/^[*+]+/, '')) ?? []
  const plain = bare
    .replace(/\.{3}$/, '')
    .trim()
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .replace(/^(?![A-Za-z])/, 'p')
  let unique = plain
  for (let number = 2; used.has(unique); number++) unique = `${plain}${number}`
  used.add(unique)
  return unique
}
