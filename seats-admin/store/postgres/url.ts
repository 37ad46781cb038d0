/** Parses the store's URL. No error message contains its credentials. */

import { readFileSync } from 'node:fs'
import { type ConnectionOptions, getCACertificates } from 'node:tls'
import type { ClientConfig } from 'pg'
import { isPair, PemFault, type PemUse, readPem } from '../../model/pem-text.ts'

export interface Target {
  /** The URL without user name, password and parameters, for display. */
  readonly place: string
  /** The complete settings, so that pg reads nothing from the environment or from files. */
  readonly client: ClientConfig
}

const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

/** In place of a file: the authorities of the operating system. */
const SYSTEM = 'system'
const MODES = ['disable', 'require', 'verify-ca', 'verify-full']

const PROTOCOLS = ['postgres:', 'postgresql:']
const DEFAULT_PORT = 5432
const KNOWN: readonly string[] = [...TLS_PARAMETERS, 'application_name', 'target_session_attrs']
/** Values of libpq that the primary of a store satisfies: no other server is accepted in any case. */
const PRIMARY: readonly string[] = ['any', 'read-write', 'primary']
const HINT = 'special characters of user and password must be percent-encoded'

export function parseUrl(text: string): Target {
  const url = urlOf(text)
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost'
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port)
  const user = decoded(url.username)
  if (user === '')
    throw new Error('the URL has no user name: write postgres://user:password@host:port/database')
  const database = decoded(url.pathname.slice(1)) || user
  const parameters = parametersOf(url)
  requirePrimary(parameters.get('target_session_attrs'))
  const ssl = tlsOf(parameters)
  if (ssl !== false && host.startsWith('/'))
    throw new Error('TLS is not available on a Unix socket: remove sslmode')
  const password = decoded(url.password)
  const application_name = parameters.get('application_name') ?? 'seatgate'
  return {
    place: `postgres://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
    // A function, so that pg does not show the password in its properties.
    client: {
      host,
      port,
      user,
      database,
      password: () => password,
      ssl,
      sslnegotiation: 'postgres',
      application_name,
    },
  }
}

/**
 * An `@` after the host belongs to a password with an unencoded `/`, `?` or `#`: the apparent host is then a
 * part of the password.
 */
function urlOf(text: string): URL {
  if (namesSeveralHosts(text)) {
    throw new Error(
      'the URL names several hosts: name one that leads to the primary, such as a virtual address or a proxy that follows it',
    )
  }
  const url = URL.parse(text)
  if (url === null) throw new Error(`the URL is not valid: ${HINT}`)
  if (!PROTOCOLS.includes(url.protocol))
    throw new Error('the URL must begin with postgres:// or postgresql://')
  if (/[/?#].*@/s.test(text.slice(url.protocol.length + 2)) || url.hash !== '') {
    throw new Error(`the URL has a # or an @ after its host: ${HINT}`)
  }
  return url
}

/**
 * Several hosts are refused: each gateway would find a primary by itself. One that still reads the former
 * primary after a failover keeps its lease there, and decides by what the new one has changed since.
 *
 * As libpq takes them: `host:port,host:port`. A comma of a password is none of a host.
 */
export function namesSeveralHosts(text: string): boolean {
  return /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#][^@]*)?$/.test(text)
}

function parametersOf(url: URL): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (!KNOWN.includes(name))
      throw new Error(
        `the URL has an unknown parameter, ${JSON.stringify(name)}: the known ones are ${KNOWN.join(', ')}`,
      )
    if (parameters.has(name)) throw new Error(`the URL has the parameter ${name} twice: remove one`)
    parameters.set(name, value)
  }
  return parameters
}

function requirePrimary(attributes = 'primary'): void {
  if (!PRIMARY.includes(attributes))
    throw new Error('target_session_attrs must be primary, or be left out: the store needs the primary')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`the URL has an invalid percent-encoding: ${HINT}`)
  }
}

/** TLS options with the meaning of libpq's `sslmode` and its files. @returns false without TLS */
function tlsOf(parameters: ReadonlyMap<string, string>): false | ConnectionOptions {
  const system = parameters.get('sslrootcert') === SYSTEM
  const mode = parameters.get('sslmode') ?? (system ? 'verify-full' : 'disable')
  if (!MODES.includes(mode)) throw new Error(`sslmode must be one of ${MODES.join(', ')}${insteadOf(mode)}`)
  // Any public authority would vouch for any server.
  if (system && mode !== 'verify-full')
    throw new Error(`sslrootcert=system requires sslmode=verify-full, and sslmode is ${mode}`)
  const files = {
    ca: system ? null : fileOf('sslrootcert', 'authorities'),
    cert: fileOf('sslcert', 'certificate'),
    key: fileOf('sslkey', 'key'),
  }
  if (mode === 'disable') return refuseFiles(files)
  if ((files.cert === null) !== (files.key === null))
    throw new Error('sslcert and sslkey must be set together')
  if (files.cert !== null && files.key !== null && !isPair(files.cert, files.key))
    throw new Error('sslkey does not match sslcert: name the key of this certificate')
  const own = Object.fromEntries(Object.entries(files).filter(([, file]) => file !== null))
  const authorities = system ? { ca: getCACertificates('system') } : {}
  // An authority that sslrootcert names is trusted by itself, though another one has issued it.
  const trust = { ...authorities, allowPartialTrustChain: true }
  return { ...own, ...trust, minVersion: 'TLSv1.2', ...verificationOf(mode, files.ca !== null) }

  function fileOf(name: (typeof TLS_PARAMETERS)[number], use: PemUse): string | null {
    const path = parameters.get(name)
    return path === undefined ? null : readFile(name, path, use)
  }
}

/** libpq tries both with and without TLS there, so that one who holds the network chooses. */
function insteadOf(mode: string): string {
  if (mode !== 'prefer' && mode !== 'allow') return ''
  return `: ${mode} may connect without TLS. Write require or verify-full for a server with TLS, disable for one without`
}

/** Certificate files without TLS are a mistake. */
function refuseFiles(files: Readonly<Record<string, string | null>>): false {
  if (Object.values(files).every((file) => file === null)) return false
  throw new Error('certificate files require an sslmode other than disable, which is the default')
}

/** With a root certificate, libpq treats `require` as `verify-ca`. */
function verificationOf(mode: string, hasRoot: boolean): ConnectionOptions {
  if (mode === 'verify-full') return { rejectUnauthorized: true }
  if (!hasRoot && mode === 'require') return { rejectUnauthorized: false }
  // With public authorities and no host check, any public certificate would be accepted.
  if (!hasRoot) throw new Error('sslmode=verify-ca requires sslrootcert')
  return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
}

function readFile(name: string, path: string, use: PemUse): string {
  const pem = readPem(textOf(name, path), use)
  if (pem instanceof PemFault) throw new Error(`${name}: ${path} ${pem.message}`)
  return pem
}

function textOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    throw new Error(`${name} cannot be read: ${code} ${path}`, { cause })
  }
}
