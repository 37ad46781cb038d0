/** TLS options with the meaning of libpq's `sslmode` and its files. */

import { readFileSync } from 'node:fs'
import { type ConnectionOptions, getCACertificates } from 'node:tls'

export const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

/** In place of a file: the authorities of the operating system. */
const SYSTEM = 'system'
const MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** @returns false without TLS */
export function tlsOf(parameters: ReadonlyMap<string, string>): false | ConnectionOptions {
  const system = parameters.get('sslrootcert') === SYSTEM
  const mode = parameters.get('sslmode') ?? (system ? 'verify-full' : 'disable')
  if (!MODES.includes(mode)) throw new Error(`sslmode must be one of ${MODES.join(', ')}${insteadOf(mode)}`)
  // Any public authority would vouch for any server.
  if (system && mode !== 'verify-full')
    throw new Error(`sslrootcert=system requires sslmode=verify-full, and sslmode is ${mode}`)
  const files = { ca: fileOf('sslrootcert'), cert: fileOf('sslcert'), key: fileOf('sslkey') }
  if (mode === 'disable') return refuseFiles(files)
  if ((files.cert === null) !== (files.key === null))
    throw new Error('sslcert and sslkey must be set together')
  const given = Object.fromEntries(Object.entries(files).filter(([, file]) => file !== null))
  const authorities = system ? { ca: getCACertificates('system') } : {}
  return { ...given, ...authorities, minVersion: 'TLSv1.2', ...verificationOf(mode, files.ca !== null) }

  function fileOf(name: (typeof TLS_PARAMETERS)[number]): Buffer | null {
    const path = parameters.get(name)
    return path === undefined || (name === 'sslrootcert' && system) ? null : read(name, path)
  }
}

/** libpq tries both with and without TLS there, so that one who holds the network chooses. */
function insteadOf(mode: string): string {
  if (mode !== 'prefer' && mode !== 'allow') return ''
  return `: ${mode} may connect without TLS. Write require or verify-full for a server with TLS, disable for one without`
}

/** Certificate files without TLS are a mistake. */
function refuseFiles(files: Readonly<Record<string, Buffer | null>>): false {
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

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    throw new Error(`${name} cannot be read: ${code} ${path}`, { cause })
  }
}
