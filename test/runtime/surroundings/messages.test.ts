/**
 * Every message about faults of the surroundings, for each code that has one of its own and for another. They
 * are in `messages.txt`; `SEATGATE_WRITE_MESSAGES=1` rewrites that file.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { RedisConfig, SettingSource, UpstreamConfig } from '../../../src/config/config.ts'
import { ProxyError } from '../../../src/oidc/provider/provider-errors.ts'
import { failedAt } from '../../../src/redis/redis-errors.ts'
import type { Finding } from '../../../src/runtime/surroundings/fault.ts'
import { explainListening } from '../../../src/runtime/surroundings/listener-fault.ts'
import { fileShortage, lostLog, refuseWrongClock } from '../../../src/runtime/surroundings/machine-faults.ts'
import { postgresFinding } from '../../../src/runtime/surroundings/postgres-fault.ts'
import { clockFinding, providerFinding } from '../../../src/runtime/surroundings/provider-fault.ts'
import { redisFinding } from '../../../src/runtime/surroundings/redis-fault.ts'
import { sqliteFinding } from '../../../src/runtime/surroundings/sqlite-fault.ts'
import { healthFinding, targetFinding } from '../../../src/runtime/surroundings/target-fault.ts'

const FILE = join(import.meta.dirname, 'messages.txt')

const source: SettingSource = {
  key: 'KEY',
  place: { file: 'f.yaml', line: 1, column: 2 },
  isDefault: false,
  isVariable: false,
  variables: ['VARIABLE'],
}
const SETTING = 'SETTING'

/** Codes of the network and of TLS, and one that no table has. */
const NETWORK =
  `ECONNREFUSED ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH ECONNRESET EPIPE TIMEOUT CERT_HAS_EXPIRED
  CERT_NOT_YET_VALID ERR_TLS_CERT_ALTNAME_INVALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED
  ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG EPROTO OTHER`.split(/\s+/)

/** The text has what a template would take for a place of its own. */
const fault = (code: string, message = 'a {setting} $& fault.') =>
  Object.assign(new Error(message), { code, cert: { subjectaltname: 'DNS:a.example, IP Address:::1' } })

const shown = (name: string, { cause, advice }: Finding) => `${name}\n  ${cause}\n  ${advice}\n`

function* postgres(): Generator<string> {
  const codes =
    `28P01 NO_PASSWORD 28000 3D000 42501 53300 53100 57P03 25006 SHARED_SESSIONS STANDBY OLD_SERVER ENCODING NEWER_SCHEMA
    DAMAGED NO_TLS`.split(/\s+/)
  const url = 'postgres://us%7Ber:secret@db.example/da%22ta'
  for (const code of [...codes, ...NETWORK])
    yield shown(
      `postgres ${code}`,
      postgresFinding(url, SETTING, { code, message: 'the {at} message' }, fault(code)),
    )
  const without = postgresFinding('postgres://user@db:1/data', SETTING, { code: '28P01', message: '' }, null)
  yield shown('postgres without a password', without)
}

function* sqlite(): Generator<string> {
  const codes =
    `EACCES EPERM SQLITE_PERM SQLITE_READONLY SQLITE_CANTOPEN EROFS ENOENT ENOTDIR EEXIST ENOSPC EDQUOT SQLITE_FULL
    SQLITE_NOTADB NOT_A_STORE SQLITE_CORRUPT DAMAGED NEWER_SCHEMA SQLITE_BUSY TIMEOUT GATEWAY IN_USE OTHER`.split(
      /\s+/,
    )
  const of = (path: string, code: string) =>
    shown(`sqlite ${path} ${code}`, sqliteFinding(path, SETTING, { code, message: 'the {path} message' }))
  for (const code of codes) yield of('/seatgate.db', code)
  yield of('/no/such/folder/seatgate.db', 'EACCES')
}

const REDIS_CODES = ['NO_REPLY', ...NETWORK]
const REPLIES =
  `WRONGPASS no|ERR invalid password|NOAUTH|READONLY no.|NOPERM no|OOM no|MISCONF no|NOREPLICAS no|MASTERDOWN no|LOADING
  no|CLUSTERDOWN no|MOVED 1|ASK 1|ERR other`.split('|')

const REDIS = [
  { mode: 'standalone', tls: false, username: null },
  { mode: 'sentinel', tls: true, username: 'us{er}' },
  { mode: 'cluster', tls: true, username: null },
] as const
const NODES = [
  { host: 'a.example', port: 1 },
  { host: '::1', port: 2 },
]

function* redis(): Generator<string> {
  for (const kind of REDIS) {
    const config = { ...kind, nodes: NODES, prefix: 'pre:' } as unknown as RedisConfig
    const of = (name: string, cause: Error) =>
      shown(`redis ${kind.mode} ${name}`, redisFinding(config, SETTING, cause))
    for (const code of REDIS_CODES) yield of(code, fault(code))
    for (const reply of REPLIES)
      yield of(reply, Object.assign(new Error(reply), { name: 'ReplyError', command: { name: 'get' } }))
    const lastNodeError = fault('ERR_TLS_CERT_ALTNAME_INVALID')
    failedAt(lastNodeError, { host: 'other.example', port: 3 })
    yield of('another server', Object.assign(new Error('x'), { lastNodeError }))
    yield of('no Redis', Object.assign(new Error('no Redis'), { name: 'ProtocolError' }))
  }
}

function* targets(): Generator<string> {
  const url = new URL('https://service.example:8443')
  const upstream = { name: 'main', health: { path: '/health' } } as unknown as UpstreamConfig
  for (const code of ['UPSTREAM_NO_HTTP2', ...NETWORK])
    yield shown(`target ${code}`, targetFinding(url, upstream, source, fault(code)))
  yield shown('target without an error', targetFinding(url, upstream, source, 'text'))
  yield shown('target, health check', healthFinding(url, upstream, fault('503')))
}

function* providers(): Generator<string> {
  const issuer = 'https://id.example:444/realm'
  for (const code of [
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    ...NETWORK,
  ])
    yield shown(`provider ${code}`, providerFinding(issuer, source, fault(code)))
  const byProxy = providerFinding(issuer, source, new ProxyError('the proxy refuses', 'HTTPS_PROXY'))
  yield shown('provider, proxy', byProxy)
  for (const ahead of [65_000, -65_000]) yield shown(`clock ${ahead}`, clockFinding(issuer, ahead))
}

async function listeners(): Promise<string[]> {
  const codes = [
    'EADDRINUSE',
    'EACCES',
    'EPERM',
    'EADDRNOTAVAIL',
    'EAFNOSUPPORT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'OTHER',
  ]
  const attempts = [80, 8080].flatMap((port) => codes.map((code) => ({ port, code })))
  return Promise.all(
    attempts.map(async ({ port, code }) => {
      const error = await explainListening({ host: 'h.example', port }, source, () =>
        Promise.reject(fault(code)),
      ).catch((cause: Error) => cause)
      return `listener ${port} ${code}\n  ${error instanceof Error ? error.message : ''}\n`
    }),
  )
}

function machine(): string[] {
  let clock: unknown = null
  try {
    refuseWrongClock({ sources: { tenants: source } as never }, 0)
  } catch (cause) {
    clock = cause
  }
  return [String(clock), fileShortage(source, 1, 2), lostLog('ENOSPC')].map((text) => `machine\n  ${text}\n`)
}

t.test('every message', async (t) => {
  const all = [postgres(), sqlite(), redis(), targets(), providers(), await listeners(), machine()]
  const uid = String(process.getuid?.())
  const text = all
    .flatMap((each) => [...each])
    .join('\n')
    .replaceAll(`(uid ${uid})`, '(uid UID)')
  if (process.env['SEATGATE_WRITE_MESSAGES'] === '1') writeFileSync(FILE, text)
  t.equal(text, readFileSync(FILE, 'utf8'))
})
