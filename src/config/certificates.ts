/** Checks PEM files of certificates. */

import { X509Certificate } from 'node:crypto'

const BEGIN = /-----BEGIN CERTIFICATE-----/g
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * @returns the fault, worded to follow the file's name, or null. Every block is parsed, because OpenSSL silently skips
 * certificates that it can't parse.
 */
export function certificateFault(pem: string): string | null {
  const blocks = pem.match(BLOCK) ?? []
  const beginnings = pem.match(BEGIN)?.length ?? 0
  if (beginnings === 0) return 'contains no PEM certificate'
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return UNREADABLE
  }
  return blocks.length === beginnings ? null : UNREADABLE
}

const UNREADABLE = 'contains a certificate that cannot be parsed'
