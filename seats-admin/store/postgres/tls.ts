/** TLS options with the meaning of libpq's `sslmode` and its files. */

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

export const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

const MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** @returns false without TLS */
export function tlsOf(parameters: ReadonlyMap<string, string>): false | ConnectionOptions {
  const mode = parameters.get('sslmode') ?? 'disable'
  if (!MODES.includes(mode)) throw new Error(`sslmode must be one of ${MODES.join(', ')}`)
  const files = { ca: fileOf('sslrootcert'), cert: fileOf('sslcert'), key: fileOf('sslkey') }
  if (mode === 'disable') return refuseFiles(files)
  if ((files.cert === null) !== (files.key === null))
    throw new Error('sslcert and sslkey must be set together')
  const given = Object.fromEntries(Object.entries(files).filter(([, file]) => file !== null))
  return { ...given, minVersion: 'TLSv1.2', ...verificationOf(mode, files.ca !== null) }

  function fileOf(name: (typeof TLS_PARAMETERS)[number]): Buffer | null {
    const path = parameters.get(name)
    return path === undefined ? null : read(name, path)
  }
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
