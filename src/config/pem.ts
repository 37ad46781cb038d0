/**
 * Reads PEM files of certificates and keys, so that an unreadable or faulty one is a fault of the configuration. So is a
 * certificate outside its time of validity: a peer would refuse it, in the middle of the first request.
 */

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileFault } from './file-fault.ts'
import { InvalidValue, Undetermined, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'

/** Size limit of a PEM file, in bytes. */
const MAX_PEM = 1024 * 1024

/**
 * A parser of the paths of PEM files. No message contains the content of a file.
 *
 * @param folder base of relative paths
 * @param faultOf returns the fault of the text, worded to follow the file's name
 */
export function pem(folder: string, faultOf: (text: string) => string | null): ValueParser<string> {
  return (path) => {
    try {
      const file = resolve(folder, path)
      if (!statSync(file).isFile() || statSync(file).size > MAX_PEM)
        return new InvalidValue('is not a regular file of at most 1 MiB: name a PEM file')
      const text = readFileSync(file, 'latin1')
      const fault = faultOf(text)
      return fault === null ? text : new InvalidValue(fault)
    } catch (cause) {
      return new Undetermined(fileFault(cause))
    }
  }
}

/** A parser of the paths of files with authorities. @param now ms since the epoch */
export function authorities(folder: string, now: number): ValueParser<string> {
  return pem(folder, (text) => certificateFault(text) ?? authorityTime(text, now))
}

/** A parser of the paths of files with our own certificate. @param now ms since the epoch */
export function ownCertificate(folder: string, now: number): ValueParser<string> {
  return pem(folder, (text) => certificateFault(text) ?? clientCertificateTime(text, now))
}

/** @returns the fault, worded to follow the file's name, or null */
export function keyFault(pem: string): string | null {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
    ? null
    : 'contains no PEM private key: name a file that has -----BEGIN PRIVATE KEY-----'
}

const BEGIN = /-----BEGIN CERTIFICATE-----/g
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/**
 * @returns the fault, worded to follow the file's name, or null. Every block is parsed, because OpenSSL silently skips
 * certificates that it can't parse.
 */
export function certificateFault(pem: string): string | null {
  const blocks = pem.match(BLOCK) ?? []
  const beginnings = pem.match(BEGIN)?.length ?? 0
  if (beginnings === 0) return 'contains no PEM certificate: name a file that has -----BEGIN CERTIFICATE-----'
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    return UNREADABLE
  }
  return blocks.length === beginnings ? null : UNREADABLE
}

const UNREADABLE = 'contains a certificate that cannot be parsed: issue it anew, or correct the file'

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

/** Warns of the first certificate where it expires soon. @param pem parsable certificates */
export function warnOfTime(section: Section, key: string, pem: string, now: number): void {
  const [block] = pem.match(BLOCK) ?? []
  const day = block === undefined ? null : soon(Date.parse(new X509Certificate(block).validTo), now)
  if (day !== null)
    section.warn(key, 'certificate_expires', `${key}: the certificate expires on ${day}: renew it`)
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
