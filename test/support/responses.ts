/**
 * The responses on a client's connection, parsed strictly: RFC 9112 applies to the gateway's own responses
 * too.
 */

interface GivenAnswer {
  readonly status: number
  readonly fields: readonly (readonly [string, string])[]
  readonly body: string
  /** The code of a problem document; null for any other response. */
  readonly code: string | null
  /** Whether the response has `Connection: close`. */
  readonly closes: boolean
}

export interface Answers {
  /** Complete responses, in order, without interim ones. */
  readonly all: readonly GivenAnswer[]
  /** The bytes after the last complete response; '' if there are none. */
  readonly rest: string
}

/** @param heads whether the request of each response, in order, was a HEAD */
export function readAnswers(text: string, heads: readonly boolean[] = []): Answers {
  const all: GivenAnswer[] = []
  let at = 0
  for (;;) {
    const answer = answerAt(text, at, heads[all.length])
    if (answer === null) return { all, rest: text.slice(at) }
    at = answer.end
    if (answer.given.status >= 200) all.push(answer.given)
  }
}

const HEAD =
  /^HTTP\/1\.1 ([1-9][0-9]{2}) [\t\x20-\x7e]*\r\n((?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*)$/

function answerAt(
  text: string,
  at: number,
  head: boolean | undefined,
): { given: GivenAnswer; end: number } | null {
  const end = text.indexOf('\r\n\r\n', at)
  if (end < 0) return null
  const parts = HEAD.exec(text.slice(at, end + 2))
  if (parts === null) return null
  const fields = fieldsOf(parts[2] ?? '')
  const status = Number(parts[1])
  const value = (name: string) => fields.find(([each]) => each === name)?.[1]
  // An unparsable request was perhaps no HEAD, so that the last response may have a body.
  const length = Number(value('content-length') ?? 0)
  const last = isClose(fields) && status >= 400 && length > 0 && end + 4 + length === text.length
  const bodiless = (head === true && !last) || status < 200 || status === 204 || status === 304
  const body = bodiless
    ? { text: '', end: end + 4 }
    : value('transfer-encoding') === 'chunked'
      ? chunksAt(text, end + 4)
      : sizedAt(text, end + 4, Number(value('content-length') ?? NaN))
  if (body === null) {
    // The HEAD could not be read to its end. Its response has no body, and nothing follows it.
    if (head !== undefined || status < 400 || end + 4 !== text.length) return null
    return { given: { status, fields, body: '', code: null, closes: isClose(fields) }, end: end + 4 }
  }
  const problem = value('content-type') === 'application/problem+json' && !bodiless
  const code = problem ? codeOf(body.text) : null
  // The length of the response includes the next one: what follows cannot be determined.
  if (code === undefined) return null
  return { given: { status, fields, body: body.text, code, closes: isClose(fields) }, end: body.end }
}

/** Returns undefined if the text is not a problem document. */
function codeOf(text: string): string | undefined {
  try {
    return String((JSON.parse(text) as { code: unknown }).code)
  } catch {
    return undefined
  }
}

function isClose(fields: readonly (readonly [string, string])[]): boolean {
  return fields.some(([name, value]) => name === 'connection' && value.toLowerCase() === 'close')
}

/**
 * Returns names in lower case, and values.
 *
 * @param lines of a header section
 */
export function fieldsOf(lines: string): [string, string][] {
  return lines
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
}

function sizedAt(text: string, at: number, length: number): { text: string; end: number } | null {
  if (!(at + length <= text.length)) return null
  return { text: text.slice(at, at + length), end: at + length }
}

function chunksAt(text: string, start: number): { text: string; end: number } | null {
  let body = ''
  let at = start
  for (;;) {
    const size = /^([0-9a-f]{1,8})\r\n/i.exec(text.slice(at, at + 12))
    if (size === null) return null
    at += size[0].length
    const length = Number.parseInt(size[1] ?? '', 16)
    if (length === 0) {
      const end = text.startsWith('\r\n', at) ? at : text.indexOf('\r\n\r\n', at) + 2
      return end < at ? null : { text: body, end: end + 2 }
    }
    if (text.slice(at + length, at + length + 2) !== '\r\n') return null
    body += text.slice(at, at + length)
    at += length + 2
  }
}
