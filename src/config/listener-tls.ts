/** Builds `tls:` of a listener. Certificates and keys are read and compared here, so that a faulty pair never serves. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { authorityTime, clientCertificateTime, expiresSoon } from './certificate-time.ts'
import type { ClientAuthentication, ListenerTls, ServerCertificate } from './config.ts'
import { certificateFault, keyFault, pem } from './pem.ts'
import type { Section } from './section.ts'

/** @param folder base of relative paths @returns null when `tls` is absent */
export function buildListenerTls(parent: Section, folder: string): ListenerTls | null {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const now = Date.now()
  const clientAuth = section.choice<ClientAuthentication>('client_auth')
  const authorities = (text: string) => certificateFault(text) ?? authorityTime(text, now)
  const clientCa = section.text('client_ca', pem(folder, authorities)) ?? null
  if (clientAuth !== 'none' && !section.has('client_ca'))
    section.fault(
      'client_auth',
      `client_auth: ${clientAuth} needs client_ca: name the authorities of clients`,
    )
  if (clientCa !== null) warnOfTime(section, 'client_ca', clientCa, now)
  return Object.freeze({
    certificates: Object.freeze(buildCertificates(section, folder, now)),
    minVersion: section.choice<ListenerTls['minVersion']>('min_version'),
    clientCa,
    clientAuth,
  })
}

/** Those without a fault. Without a name, only the first can be selected. */
function buildCertificates(tls: Section, folder: string, now: number): ServerCertificate[] {
  return tls.sections('certificates').flatMap(({ section }, at) => {
    const certificate = buildCertificate(section, folder, now)
    if (certificate !== null && certificate.names.length === 0 && at > 0)
      section.fault(
        'cert',
        'cert: the certificate has no DNS name (subjectAltName), so no client could select it: put it first, or remove it',
      )
    return certificate === null ? [] : [certificate]
  })
}

function buildCertificate(section: Section, folder: string, now: number): ServerCertificate | null {
  const valid = (text: string) => certificateFault(text) ?? clientCertificateTime(text, now)
  const cert = section.text('cert', pem(folder, valid))
  const key = section.text('key', pem(folder, keyFault))
  if (cert === undefined || key === undefined) return null
  warnOfTime(section, 'cert', cert, now)
  const fault = pairFault(cert, key)
  if (fault !== null) section.fault('key', `key: ${fault}`)
  return fault === null ? Object.freeze({ cert, key, names: Object.freeze(dnsNames(cert)) }) : null
}

function warnOfTime(section: Section, key: string, text: string, now: number): void {
  const day = expiresSoon(text, now)
  if (day !== null)
    section.warn(key, 'certificate_expires', `${key}: the certificate expires on ${day}: renew it`)
}

/** @returns a sentence without a secret, or null */
function pairFault(cert: string, key: string): string | null {
  try {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      return 'does not match the certificate: name the key of the first certificate in the file of cert'
  } catch {
    return 'cannot be parsed: name a PEM private key without a passphrase'
  }
  try {
    createSecureContext({ cert, key })
    return null
  } catch {
    return 'is refused by TLS together with its certificate, perhaps because it is too short: issue a new one'
  }
}

const NAME = /^(?:\*\.)?(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/** DNS names among the alternative names of the first certificate (RFC 6125, section 6.4; the common name is not used). */
function dnsNames(cert: string): string[] {
  const { subjectAltName = '' } = new X509Certificate(cert)
  const names = subjectAltName
    .split(', ')
    .filter((each) => each.startsWith('DNS:'))
    .map((each) => each.slice('DNS:'.length).toLowerCase().replace(/\.$/, ''))
  return [...new Set(names.filter((name) => NAME.test(name)))]
}
