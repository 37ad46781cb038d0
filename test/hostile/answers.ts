/** What came back on a client's connection, read strictly: the gateway's own answers are held to RFC 9112 too. */

export interface GivenAnswer {
  readonly status: number
  readonly fields: readonly (readonly [string, string])[]
  readonly body: string
  /** Of a problem document; null for any other answer. */
  readonly code: string | null
  /** It says that the connection closes. */
  readonly closes: boolean
}

export interface Answers {
  /** Whole ones, in order; interim answers left out. */
  readonly all: readonly GivenAnswer[]
  /** What is no whole answer: '' where nothing is left. */
  readonly rest: string
}

/** @param heads for each answer in order, where it is known: its request was a HEAD */
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
  // What could not be read was perhaps no HEAD: the last answer may have a body then.
  const length = Number(value('content-length') ?? 0)
  const last = isClose(fields) && status >= 400 && length > 0 && end + 4 + length === text.length
  const bodiless = (head === true && !last) || status < 200 || status === 204 || status === 304
  const body = bodiless
    ? { text: '', end: end + 4 }
    : value('transfer-encoding') === 'chunked'
      ? chunksAt(text, end + 4)
      : sizedAt(text, end + 4, Number(value('content-length') ?? NaN))
  if (body === null) {
    // A HEAD that could not be read to its end: the answer has no body, and nothing follows it.
    if (head !== undefined || status < 400 || end + 4 !== text.length) return null
    return { given: { status, fields, body: '', code: null, closes: isClose(fields) }, end: end + 4 }
  }
  const problem = value('content-type') === 'application/problem+json' && !bodiless
  const code = problem ? codeOf(body.text) : null
  // The length of the answer says that the next one is a part of it: what follows can't be told.
  if (code === undefined) return null
  return { given: { status, fields, body: body.text, code, closes: isClose(fields) }, end: body.end }
}

/** undefined where the text is no problem document. */
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

function fieldsOf(lines: string): [string, string][] {
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
