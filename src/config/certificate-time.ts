/** Certificates outside their time of validity: a peer would refuse them, in the middle of the first request. */

import { X509Certificate } from 'node:crypto'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * @param pem parsable certificates @param now ms since the epoch
 * @returns the fault of the first certificate, which is that of the key; null when it is valid
 */
export function clientCertificateTime(pem: string, now: number): string | null {
  return timesOf(pem, now)[0] ?? null
}

/** @returns the fault of the first authority when none is valid: files of authorities often hold some old ones */
export function authorityTime(pem: string, now: number): string | null {
  const faults = timesOf(pem, now)
  return faults.includes(null) ? null : (faults[0] ?? null)
}

/** Time to renew it. */
const SOON = 30 * 24 * 60 * 60 * 1000

/** When the first certificate expires, where that is soon; null: it is not. @param pem parsable certificates */
export function expiresSoon(pem: string, now: number): string | null {
  const [block] = pem.match(BLOCK) ?? []
  if (block === undefined) return null
  return soon(Date.parse(new X509Certificate(block).validTo), now)
}

/** The day of that time, where it is soon; null: it is not. Both in ms since the epoch. */
export function soon(validUntil: number, now: number): string | null {
  return validUntil - now < SOON ? day(validUntil) : null
}

function timesOf(pem: string, now: number): (string | null)[] {
  return (pem.match(BLOCK) ?? []).map((block) => timeFault(new X509Certificate(block), now))
}

function timeFault({ validFrom, validTo }: X509Certificate, now: number): string | null {
  if (now > Date.parse(validTo))
    return `contains a certificate that has expired on ${day(validTo)}: renew it, or correct the clock of this machine, which shows ${new Date(now).toISOString()}`
  if (now < Date.parse(validFrom))
    return `contains a certificate that is not valid before ${day(validFrom)}: correct the clock of this machine, which shows ${new Date(now).toISOString()}, or use another certificate`
  return null
}

function day(time: string | number): string {
  return new Date(time).toISOString().slice(0, 10)
}
