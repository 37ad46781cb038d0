/** The worst that one tenant, or one address without a credential, can do while another tenant works. */

import type { AttackCount } from './clients.ts'
import { askAgain, type AttackSetup, cancel, closedLoop, holdOpen, trickle } from './clients.ts'

export interface Attack {
  readonly name: string
  /** The row in the table. */
  readonly label: string
  /** The method of the honest tenant's requests. */
  readonly honest: 'GET' | 'POST'
  /** The path of these requests; left out: one of the main upstream. */
  readonly path?: string
  /** Whether all requests come through a proxy that shares its connections of HTTP/2 among them. */
  readonly proxied?: boolean
  /** Runs until the signal. */
  readonly run: (setup: AttackSetup) => Promise<AttackCount>
}

/** Connections of an attack that sends each request as soon as the last response arrives. */
const CONNECTIONS = 8
/** Routes with permissions of their own. */
export const HEAVY_ROUTES = 50

const head = (method: string, path: string, lines: readonly string[]) =>
  Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: gw\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)

const SPACE_LINE = 'Space: s1'
const credential = ({ token }: AttackSetup) => [SPACE_LINE, `Authorization: Bearer ${token}`]
const UNREAD = Buffer.alloc(3 * 1024 * 1024, 'x')
const COMMAS = ','.repeat(30_000)

const slowLines = ({ token }: AttackSetup) => [SPACE_LINE, `Authorization: Bearer ${token}`]

export const ATTACKS: readonly Attack[] = [
  {
    name: 'large-seats',
    label: 'an API key of 300 Seats of 10,000 permissions',
    honest: 'GET',
    run: (setup) => {
      const requests = Array.from({ length: HEAVY_ROUTES }, (_, at) =>
        head('GET', `/v1/heavy${at}`, [SPACE_LINE, `x-api-key: ${setup.keys.large}`]),
      )
      return closedLoop(setup, CONNECTIONS, requests)
    },
  },
  {
    name: 'long-names',
    label: 'an API key of 1,000 Seats with names of 256 characters',
    honest: 'GET',
    run: (setup) => {
      const request = head('GET', '/v1/trainings/7', [SPACE_LINE, `x-api-key: ${setup.keys.long}`])
      return closedLoop(setup, CONNECTIONS, [request])
    },
  },
  {
    name: 'over-limit',
    label: 'one caller far over its rate limit, on 8 connections',
    honest: 'GET',
    run: (setup) => {
      const lines = [SPACE_LINE, `Authorization: Bearer ${setup.token}`]
      return closedLoop(setup, CONNECTIONS, [head('GET', '/v1/limited/7', lines)])
    },
  },
  {
    name: 'slow-uploads',
    label: '512 uploads of 1.4 KiB/s each',
    honest: 'POST',
    run: (setup) => {
      const lines = [SPACE_LINE, `Authorization: Bearer ${setup.token}`, 'Content-Length: 10000000']
      return trickle(setup, 512, head('POST', '/v1/trainings/7', lines), Buffer.alloc(1440, 'x'), 1000)
    },
  },
  {
    name: 'websockets',
    label: '4,000 WebSockets, where there are 2,000 connections',
    honest: 'GET',
    run: (setup) => {
      const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
      const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key]
      const lines = [SPACE_LINE, `Authorization: Bearer ${setup.token}`, ...upgrade]
      return holdOpen(setup, 4000, head('GET', '/v1/socket', lines))
    },
  },
  {
    name: 'sign-ins',
    label: 'sign-ins begun and not finished, on 8 connections',
    honest: 'GET',
    run: (setup) => {
      const body = '{"tenant":"mallory"}'
      const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`]
      const request = Buffer.concat([head('POST', '/auth/oidc/login', lines), Buffer.from(body)])
      return closedLoop(setup, CONNECTIONS, [request])
    },
  },
  {
    name: 'lists',
    label: '30,000 commas in Connection and in Accept, on 8 connections',
    honest: 'GET',
    run: (setup) =>
      closedLoop(setup, CONNECTIONS, [
        head('GET', '/open/7', [`Connection: keep-alive${COMMAS}`]),
        head('GET', '/page/7', [`Accept: text/html${COMMAS}`, 'Sec-Fetch-Mode: navigate']),
      ]),
  },
  {
    name: 'partial-heads',
    label: '4,000 connections with 30 KiB of a header section, where there are 2,000',
    honest: 'GET',
    run: (setup) => {
      const begun = `GET /open/7 HTTP/1.1\r\nHost: gw\r\nx-long: ${'a'.repeat(30_000)}`
      return holdOpen(setup, 4000, Buffer.from(begun))
    },
  },
  {
    name: 'large-fields',
    label: 'fields of 9 KiB for a service over HTTP/2 that both share, on 8 connections',
    honest: 'POST',
    path: '/v1/large/7',
    run: (setup) => {
      const lines = [SPACE_LINE, `Authorization: Bearer ${setup.token}`, `X-Large: ${'a'.repeat(9 * 1024)}`]
      return closedLoop(setup, CONNECTIONS, [head('GET', '/v1/large/7', lines)])
    },
  },
  {
    name: 'cancelled',
    label: '500 requests/s, cancelled, for a service over HTTP/2 that both share',
    honest: 'POST',
    path: '/v1/shared/7',
    run: (setup) => cancel(setup, 10, head('GET', '/v1/shared/slow', slowLines(setup))),
  },
  {
    name: 'proxied-cancels',
    label: '500 requests/s, cancelled, through a proxy over HTTP/2 that both share',
    honest: 'POST',
    path: '/v1/shared/7',
    proxied: true,
    run: (setup) => cancel(setup, 10, head('GET', '/v1/shared/slow', slowLines(setup)), '127.0.0.2'),
  },
  {
    name: 'event-streams',
    label: '400 event streams, where the upstream has 256 connections',
    honest: 'GET',
    path: '/http1/trainings/7',
    run: (setup) => askAgain(setup, 400, head('GET', '/http1/events', credential(setup))),
  },
  {
    name: 'event-streams-http2',
    label: '900 event streams, where the upstream has 800 streams of HTTP/2',
    honest: 'GET',
    path: '/http2/trainings/7',
    run: (setup) => askAgain(setup, 900, head('GET', '/http2/events', credential(setup))),
  },
  {
    name: 'unread-bodies',
    label: '20 bodies of 3 MiB that a service of HTTP/2 does not read',
    honest: 'POST',
    path: '/http2/trainings/7',
    run: (setup) => {
      const lines = [...credential(setup), `Content-Length: ${UNREAD.length}`]
      return holdOpen(setup, 20, Buffer.concat([head('POST', '/http2/unread', lines), UNREAD]))
    },
  },
]
