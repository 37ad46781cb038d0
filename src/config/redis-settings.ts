/** Parses the URL of `redis:`. It may contain secrets, so no message shows a value. */

import { resolve } from 'node:path'
import { isPair } from '../../seats-admin/model/pem-text.ts'
import type { Address } from './addresses.ts'
import { InvalidValue, quote, Undetermined } from './invalid-value.ts'
import { readPemFile } from './pem.ts'

/** The servers of Redis or Valkey: the cache and the message bus of a fleet. */
export type RedisConfig = Exclude<ReturnType<typeof redisUrl>, InvalidValue>
type Mode = 'single' | 'sentinel' | 'cluster'

/** Scheme → discovery mode and TLS. Clients use both spellings, `redis+sentinel` and `redis-sentinel`. */
const SCHEMES = new Map<string, { readonly mode: Mode; readonly tls: boolean }>([
  ['redis', { mode: 'single', tls: false }],
  ['rediss', { mode: 'single', tls: true }],
])
for (const mode of ['sentinel', 'cluster'] as const) {
  for (const separator of ['+', '-']) {
    SCHEMES.set(`redis${separator}${mode}`, { mode, tls: false })
    SCHEMES.set(`rediss${separator}${mode}`, { mode, tls: true })
  }
}
const DEFAULT_PORT = { single: 6379, cluster: 6379, sentinel: 26379 }
const PARAMETERS = new Set(['prefix', 'ca', 'cert', 'key', 'sentinel_username', 'sentinel_password'])
const SHAPE = /^([a-z+-]+):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/

/**
 * `redis://[user:password@]host[:port][/db]`, `rediss://…` for TLS;
 * `redis+sentinel://host:port,host:port/master[/db]`, `redis+cluster://host:port,host:port`. Parameters:
 * `prefix` of all keys, `ca`, `cert`, `key` (PEM files, for TLS), `sentinel_username`, `sentinel_password`.
 *
 * @param folder the base of relative paths
 */
export function redisUrl(text: string, folder: string) {
  const [, scheme = '', user = '', hosts = '', path = '', query = ''] = SHAPE.exec(text) ?? []
  const kind = SCHEMES.get(scheme)
  if (kind === undefined)
    return new InvalidValue('is not redis://host:port, rediss://, redis+sentinel:// or redis+cluster://')
  const nodes = hosts.split(',').map((host) => node(host, DEFAULT_PORT[kind.mode]))
  const bad = nodes.find((each) => each instanceof InvalidValue)
  if (bad instanceof InvalidValue) return bad
  if (kind.mode === 'single' && nodes.length > 1)
    return new InvalidValue('names several servers, which requires redis+sentinel:// or redis+cluster://')
  const selected = database(kind.mode, path)
  if (selected instanceof InvalidValue) return selected
  const credentials = login(user)
  if (credentials instanceof InvalidValue) return credentials
  const options = parameters(query, kind.tls, folder)
  if (options instanceof InvalidValue) return options
  return Object.freeze({
    ...kind,
    /** The server, the sentinels, or some nodes of the cluster. */
    nodes: Object.freeze(nodes as Address[]),
    ...selected,
    ...credentials,
    ...options,
  })
}

function node(text: string, defaultPort: number): Address | InvalidValue {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port ?? 1) > 65535 || Number(port ?? 1) === 0)
    return new InvalidValue('has a server that is not host or host:port')
  return Object.freeze({ host, port: Number(port ?? defaultPort) })
}

/** @returns the number of the database; `master`: the name of the primary, for sentinels only */
function database(mode: Mode, path: string) {
  const parts = path.split('/').slice(1)
  const master = mode === 'sentinel' ? (parts.shift() ?? '') : null
  if (master === '') return new InvalidValue('has no master name: redis+sentinel://host:26379/mymaster')
  const [db = '0', ...rest] = parts.filter((each) => each !== '')
  if (rest.length > 0 || !/^[0-9]{1,3}$/.test(db))
    return new InvalidValue('has a path that is not a database number, such as /0')
  if (mode === 'cluster' && db !== '0')
    return new InvalidValue('selects a database: a Redis cluster has only database 0')
  return { master, db: Number(db) }
}

function login(user: string) {
  if (user === '') return { username: null, password: null }
  const at = user.indexOf(':')
  try {
    const name = decodeURIComponent(at < 0 ? user : user.slice(0, at))
    return { username: name || null, password: at < 0 ? null : decodeURIComponent(user.slice(at + 1)) }
  } catch {
    return new InvalidValue(
      'has a user name or password that is not percent-encoded correctly: write % as %25',
    )
  }
}

/**
 * After a password that is not percent-encoded, the query contains an `@`: then the name may be a part of it,
 * and is not shown.
 */
function unknownParameter(name: string, query: string): string {
  const shown = query.includes('@') ? '' : `, ${quote(name)}`
  return `has an unknown parameter${shown}: the known ones are ${[...PARAMETERS].join(', ')}`
}

/** The parameters that name PEM files, and their content. */
const FILES = { ca: 'authorities', cert: 'certificate', key: 'key' } as const

/** @returns the PEM texts; null: the URL does not have the parameter */
function readFiles(params: URLSearchParams, query: string, folder: string) {
  const texts: Record<keyof typeof FILES, string | null> = { ca: null, cert: null, key: null }
  for (const name of ['ca', 'cert', 'key'] as const) {
    const path = params.get(name)
    if (path === null) continue
    const text = readPemFile(resolve(folder, path), FILES[name])
    if (text instanceof InvalidValue) return ofFile(name, shownFile(path, query), text)
    texts[name] = text
  }
  const { cert, key } = texts
  return cert === null || key === null || isPair(cert, key)
    ? texts
    : new InvalidValue('has a key that does not match its cert: name the key of this certificate')
}

/** The file, unless it may be a part of a password; see `unknownParameter`. */
function shownFile(path: string, query: string): string {
  return query.includes('@') ? 'a file that' : `the file ${JSON.stringify(path)}, which`
}

function ofFile(name: string, file: string, fault: InvalidValue): InvalidValue {
  const message = `has the parameter ${name} with ${file} ${fault.message}`
  return fault instanceof Undetermined ? new Undetermined(message) : new InvalidValue(message)
}

function parameters(query: string, tls: boolean, folder: string) {
  const params = new URLSearchParams(query)
  for (const name of params.keys()) {
    if (!PARAMETERS.has(name)) return new InvalidValue(unknownParameter(name, query))
    if (params.getAll(name).length > 1) return new InvalidValue(`has the parameter ${name} twice: remove one`)
  }
  const file = Object.keys(FILES).find((name) => params.has(name))
  if (file !== undefined && !tls)
    return new InvalidValue(
      `has the parameter ${file}, which requires TLS: write rediss://, or remove the parameter`,
    )
  if (params.has('cert') !== params.has('key'))
    return new InvalidValue('has one of cert and key: set both or neither')
  const tlsFiles = readFiles(params, query, folder)
  if (tlsFiles instanceof InvalidValue) return tlsFiles
  const prefix = params.get('prefix') ?? 'seatgate:'
  if (!/^[A-Za-z0-9._:-]{1,64}$/.test(prefix))
    return new InvalidValue('has a prefix that is not 1 to 64 letters, digits and . _ : -')
  return {
    /** The prefix of each key and channel. */
    prefix,
    ...tlsFiles,
    sentinelUsername: params.get('sentinel_username'),
    sentinelPassword: params.get('sentinel_password'),
  }
}
