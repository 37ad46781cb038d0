/** Requests on one connection are parsed like single requests. */

import fc from 'fast-check'
import t from 'tap'
import { MessageParser } from '../../../src/http/wire/message-parser.ts'
import { MalformedRequest } from '../../../src/http/wire/malformed-request.ts'
import { requestGrammar, type RequestHead } from '../../../src/http/wire/request-parser.ts'

/** Parses requests of one connection. */
function parseAll(texts: readonly string[], head: (head: RequestHead) => void): void {
  const parser: MessageParser<RequestHead> = new MessageParser(requestGrammar(4096), 4096, {
    head,
    body: () => {},
    end: () => parser.begin(),
  })
  parser.begin()
  for (const text of texts) {
    const bytes = Buffer.from(text, 'latin1')
    // Bytes behind the end of a message belong to the next one.
    for (let at = 0; at < bytes.length;) at = parser.read(bytes, at, bytes.length)
  }
}

interface GeneratedRequest {
  readonly method: string
  readonly version: string
  readonly lines: readonly string[]
  readonly body: readonly [string, string]
}

function textOf({ method, version, lines, body: [framing, content] }: GeneratedRequest): string {
  const fields = ['Host: a', ...lines, framing].filter((line) => line !== '')
  return `${method} / HTTP/${version}\r\n${fields.join('\r\n')}\r\n\r\n${content}`
}

/** The content of the message, or its error. */
function results(texts: readonly string[]): unknown[] {
  const found: unknown[] = []
  try {
    parseAll(texts, (head) => found.push(head))
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error
    found.push(error.message)
  }
  return found
}

t.test('a connection parses what each single request would give', async (t) => {
  const lines = ['X-A: b', 'X-A:  b', 'x-a: b', 'X-A: c', 'Space: s1', 'Space: s2', 'Connection: close']
  const request: fc.Arbitrary<GeneratedRequest> = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    lines: fc.array(fc.constantFrom(...lines), { maxLength: 2 }),
    body: fc.constantFrom(
      ['', ''] as const,
      ['Content-Length: 0', ''] as const,
      ['Content-Length: 3', 'abc'] as const,
      ['Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'] as const,
    ),
  })
  let faults = 0
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      const texts = requests.map(textOf)
      const alone = texts.flatMap((text) => results([text]))
      const fault = alone.findIndex((each) => typeof each === 'string')
      if (fault >= 0) faults++
      t.strictSame(results(texts), fault < 0 ? alone : alone.slice(0, fault + 1))
    }),
    { numRuns: 300 },
  )
  t.ok(faults > 0, 'HTTP/1.0 has no chunks, even where the same lines were valid before')
})
