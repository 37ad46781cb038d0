/**
 * The certificate of the TLS listeners of all peers: EC P-256, for localhost and 127.0.0.1, made once in a
 * run of the bench.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Authority } from '../test/proxy/authority.ts'

/** PEM files. */
export interface CertificateFiles {
  /** The certificate of the authority. */
  readonly ca: string
  readonly cert: string
  readonly key: string
  /** The certificate and the key in one file, as HAProxy reads them. */
  readonly both: string
}

export function makeCertificate(folder: string): CertificateFiles {
  const authority = new Authority()
  const { cert, key } = authority.issue({ names: ['localhost', '127.0.0.1'] })
  const write = (name: string, text: string) => {
    const file = join(folder, `${name}.pem`)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  return {
    ca: write('ca', authority.cert),
    cert: write('cert', cert),
    key: write('key', key),
    both: write('both', cert + key),
  }
}
