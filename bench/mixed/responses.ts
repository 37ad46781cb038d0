/**
 * The upstream's responses in the mixed workload: 64 bodies of 0.2 to 20 KB, each with header lines of its
 * own, and some of these vary. The target of a request selects the response.
 */

import { Random } from '../../test/support/random.ts'
import { hexOf } from './random.ts'

/** The varying parts of values, by their names in nginx. */
export const VARIABLES = ['$request_id', '$msec', '$connection_requests'] as const

export interface MixedResponse {
  /** Extension of the file. */
  readonly extension: keyof typeof CONTENT_TYPES
  readonly body: string
  /** Name and value; placeholders of `VARIABLES` stand for varying parts. */
  readonly headers: ReadonlyMap<string, string>
}

export const CONTENT_TYPES = { json: 'application/json', html: 'text/html', txt: 'text/plain' } as const

/** The response to writes. */
export const WRITTEN = '{"accepted":true}'

const SEED = 16
const COUNT = 64
const LEAST = 200
const MOST = 20_000

/** Header lines, and the share of the responses that have them. */
const LINES: readonly (readonly [name: string, share: number, values: readonly string[]])[] = [
  [
    'Cache-Control',
    0.8,
    ['no-store', 'private, max-age=60', 'public, max-age=300, stale-while-revalidate=30'],
  ],
  ['Vary', 0.6, ['Accept-Encoding', 'Accept, Accept-Language', 'Origin, Accept-Encoding']],
  ['X-Correlation-Id', 0.5, ['$request_id']],
  ['X-RateLimit-Remaining', 0.3, ['$connection_requests']],
  ['Server-Timing', 0.3, ['db;dur=3.2, app;start=$msec']],
  ['Set-Cookie', 0.1, ['seen=$request_id; Path=/; HttpOnly; SameSite=Lax']],
  ['Content-Language', 0.4, ['en', 'de', 'fr-FR']],
  ['X-Content-Type-Options', 0.7, ['nosniff']],
  ['Strict-Transport-Security', 0.5, ['max-age=63072000; includeSubDomains']],
  ['Content-Security-Policy', 0.2, ["default-src 'self'; img-src 'self' data:; frame-ancestors 'none'"]],
  ['Access-Control-Allow-Origin', 0.3, ['https://app.acme.example']],
  ['Link', 0.2, ['</v1/things?page=2>; rel="next", </v1/things?page=9>; rel="last"']],
]

export const HEADER_NAMES: readonly string[] = LINES.map(([name]) => name)

export function mixedResponses(): MixedResponse[] {
  const random = new Random(SEED)
  return Array.from({ length: COUNT }, (_, number) => responseOf(random, number))
}

function responseOf(random: Random, number: number): MixedResponse {
  const size = Math.round(LEAST * (MOST / LEAST) ** ((number + 0.5) / COUNT))
  const extension = random.pick(['json', 'json', 'json', 'html', 'txt'] as const)
  const present = LINES.filter(([, share]) => random.chance(share))
  const headers = new Map(present.map(([name, , values]) => [name, random.pick(values)]))
  return { extension, body: bodyOf(random, size), headers }
}

function bodyOf(random: Random, size: number): string {
  const items: string[] = []
  for (let length = 0; length < size; length += 60)
    items.push(`{"id":"${hexOf(random, 16)}","state":"open","n":${random.below(1e6)}}`)
  return `[${items.join(',')}`.slice(0, size - 1) + ']'
}
