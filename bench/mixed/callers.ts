/**
 * The callers of the mixed workload: browsers, apps and services behind a load balancer. Each has header
 * lines of its own, most of them the same in every request.
 */

import { SPACE } from '../names.ts'
import type { Random } from '../../test/support/random.ts'
import { hexOf, sizeOf } from './random.ts'

export interface Caller {
  /** A header line, whose name is in lower case. */
  readonly credential: string
  /** Header lines of all its requests. */
  readonly lines: readonly string[]
  readonly kind: Kind
}

type Kind = 'browser' | 'app' | 'service'

const BROWSERS = [
  ['Windows NT 10.0; Win64; x64', 'Windows'],
  ['Macintosh; Intel Mac OS X 10_15_7', 'macOS'],
  ['X11; Linux x86_64', 'Linux'],
  ['Linux; Android 10; K', 'Android'],
] as const
const LANGUAGES = [
  'en-US,en;q=0.9',
  'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7',
  'fr-FR,fr;q=0.9,en;q=0.8',
  'es-ES,es;q=0.9',
  'nl-NL,nl;q=0.9,de;q=0.8,en;q=0.7',
  'ja,en-US;q=0.9,en;q=0.8',
  'pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7',
] as const
const APPS = ['okhttp/4.12.0', 'Acme/5.31.2 (iPhone; iOS 18.5; Scale/3.00)', 'Dart/3.7 (dart:io)'] as const
const SERVICES = [
  'python-requests/2.32.3',
  'Go-http-client/1.1',
  'Java-http-client/21',
  'axios/1.9.0',
] as const

/** @param isService it has an API key, unlike a user */
export function callerOf(random: Random, credential: string, isService: boolean): Caller {
  const kind = isService ? 'service' : random.chance(0.7) ? 'browser' : 'app'
  const address = `${10 + random.below(200)}.${random.below(256)}.${random.below(256)}.${random.below(256)}`
  const lines = [...LINES[kind](random), `x-forwarded-for: ${address}`, 'x-forwarded-proto: https']
  return { credential, lines, kind }
}

const LINES: Readonly<Record<Kind, (random: Random) => string[]>> = {
  browser: (random) => {
    const [system, platform] = random.pick(BROWSERS)
    const version = 120 + random.below(20)
    return [
      `sec-ch-ua: "Chromium";v="${version}", "Not.A/Brand";v="24", "Google Chrome";v="${version}"`,
      'sec-ch-ua-mobile: ?0',
      `sec-ch-ua-platform: "${platform}"`,
      `user-agent: Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
      'accept: application/json, text/plain, */*',
      'sec-fetch-site: same-origin',
      'sec-fetch-mode: cors',
      'sec-fetch-dest: empty',
      'accept-encoding: gzip, deflate, br, zstd',
      `accept-language: ${random.pick(LANGUAGES)}`,
      `cookie: ${cookies(random)}`,
    ]
  },
  app: (random) => [
    `user-agent: ${random.pick(APPS)}`,
    'accept: application/json',
    'accept-encoding: gzip',
    `accept-language: ${random.pick(LANGUAGES)}`,
    `x-device-id: ${hexOf(random, 32)}`,
    `x-app-version: 5.${random.below(40)}.${random.below(10)}`,
  ],
  service: (random) => [
    `user-agent: ${random.pick(SERVICES)}`,
    'accept: */*',
    'accept-encoding: gzip, deflate',
    'connection: keep-alive',
  ],
}

function cookies(random: Random): string {
  const first = `_ga=GA1.1.${random.below(1e9)}.17${random.below(1e8)}; theme=${random.pick(['dark', 'light'])}`
  const more = Array.from(
    { length: random.below(5) },
    (_, i) => `p${i}=${hexOf(random, sizeOf(random, 8, 120))}`,
  )
  return [first, ...more].join('; ')
}

/** The header lines of one request; a service over another path has names in another case. */
export function linesOf(random: Random, { credential, lines, kind }: Caller, path: string): string[] {
  const own = [credential, `space: ${SPACE}`]
  if (random.chance(0.8)) own.push(`traceparent: 00-${hexOf(random, 32)}-${hexOf(random, 16)}-01`)
  if (random.chance(0.5)) own.push(`x-request-start: t=17${random.below(1e8)}.${random.below(1000)}`)
  if (kind === 'browser') own.push(`referer: https://app.acme.example${path}`)
  if (random.chance(0.1)) own.push(`if-none-match: W/"${hexOf(random, 16)}"`)
  const all = [...lines, ...own]
  return kind === 'service' ? all.map(titled) : all
}

function titled(line: string): string {
  const colon = line.indexOf(':')
  return line.slice(0, colon).replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase()) + line.slice(colon)
}
