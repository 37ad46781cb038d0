/** Builds `tls:` of an upstream. The PEM files are read here, so that an unreadable or mismatched file is a fault. */

import { createSecureContext } from 'node:tls'
import { authorityTime, clientCertificateTime, expiresSoon } from './certificate-time.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { certificateFault, keyFault, pem } from './pem.ts'
import type { UpstreamTls } from './config.ts'
import type { Section } from './section.ts'

/** @param folder base of relative paths @returns null when `tls` is absent */
export function buildUpstreamTls(parent: Section, folder: string): UpstreamTls | null {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const now = Date.now()
  const authorities = (text: string) => certificateFault(text) ?? authorityTime(text, now)
  const certificate = (text: string) => certificateFault(text) ?? clientCertificateTime(text, now)
  const built = {
    ca: section.text('ca', pem(folder, authorities)) ?? null,
    cert: section.text('cert', pem(folder, certificate)) ?? null,
    key: section.text('key', pem(folder, keyFault)) ?? null,
    serverName: section.text('server_name', hostName) ?? null,
    insecureSkipVerify: section.flag('insecure_skip_verify'),
  }
  for (const key of ['ca', 'cert'] as const) {
    const day = built[key] === null ? null : expiresSoon(built[key], now)
    if (day !== null)
      section.warn(key, 'certificate_expires', `${key}: the certificate expires on ${day}: renew it`)
  }
  if (section.has('cert') !== section.has('key'))
    section.faultAtKey(section.has('cert') ? 'cert' : 'key', 'tls: cert and key must be set together')
  const fault = tlsFault(built)
  if (fault !== null) parent.faultAtKey('tls', `tls: ${fault}`)
  return Object.freeze(built)
}

const hostName: ValueParser<string> = (text) =>
  /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(text) && !/^[0-9.]+$/.test(text)
    ? text
    : new InvalidValue('is not a host name, such as trainings.internal')

function tlsFault({ ca, cert, key }: UpstreamTls): string | null {
  try {
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { cert, key }),
    })
    return null
  } catch {
    return 'the certificates and the key cannot be parsed or do not match: name the key of this certificate, without a passphrase'
  }
}
