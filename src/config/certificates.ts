/** PEM files of certificates, read to the last one. Used where settings are built, and where connections are. */

import { X509Certificate } from 'node:crypto'

const BEGIN = /-----BEGIN CERTIFICATE-----/g
const WHOLE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** What is wrong with it, in words that follow its name; null: nothing. OpenSSL would pass over what it can't read. */
export function certificateFault(pem: string): string | null {
  const blocks = pem.match(WHOLE) ?? []
  const begun = pem.match(BEGIN)?.length ?? 0
  if (begun === 0) return 'holds no certificate in PEM'
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return UNREADABLE
  }
  return blocks.length === begun ? null : UNREADABLE
}

const UNREADABLE = 'holds a certificate that can not be read'
