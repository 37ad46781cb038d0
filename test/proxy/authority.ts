/**
 * A certificate authority for the tests of TLS. It makes X.509 v3 certificates (RFC 5280) on demand, so that no key
 * lies in the repository and no certificate expires. Node.js signs, but does not write certificates.
 */

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface Identity {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

interface Subject {
  /** The names and IPv4 addresses of the certificate. */
  readonly names: readonly string[]
  readonly notBefore?: Date
  readonly notAfter?: Date
  /** For an RSA key of 2,048 bits; left out: P-256. */
  readonly rsa?: boolean
}

const DAY = 86_400_000

/** Tag, length, content (X.690). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const octets = (content: Buffer) => der(0x04, content)
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content)
const boolean = der(0x01, Buffer.from([0xff]))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))))
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`))
}

function alternativeNames(names: readonly string[]): Buffer {
  const each = names.map((name) =>
    isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  )
  return sequence(oid('551d11'), octets(sequence(...each)))
}

/** basicConstraints, critical: it may sign other certificates. */
const isAuthority = sequence(oid('551d13'), boolean, octets(sequence(boolean)))

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

export class Authority {
  readonly cert: string
  readonly #name: string
  readonly #key: KeyObject
  /** What a certificate is sent with: this authority's own one, where another has issued it. */
  readonly #chain: string

  /** @param issuer left out: itself */
  constructor(name = 'Test authority', issuer?: Authority) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#name = name
    this.#key = privateKey
    this.cert = (issuer ?? this).#certificate(name, publicKey, isAuthority, {})
    this.#chain = issuer === undefined ? '' : this.cert
  }

  /** Its own certificate as a server's: self-signed. */
  get identity(): Identity {
    return { cert: this.cert, key: pem(this.#key) }
  }

  /** A certificate for a server or a client. */
  issue(subject: Subject): Identity {
    const { publicKey, privateKey } =
      subject.rsa === true
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const cert = this.#certificate('Test', publicKey, alternativeNames(subject.names), subject)
    return { cert: cert + this.#chain, key: pem(privateKey) }
  }

  #certificate(
    commonName: string,
    publicKey: KeyObject,
    extension: Buffer,
    { notBefore, notAfter }: Omit<Subject, 'names'>,
  ): string {
    const body = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
      ecdsaWithSha256,
      distinguishedName(this.#name),
      sequence(time(notBefore ?? new Date(Date.now() - DAY)), time(notAfter ?? new Date(Date.now() + DAY))),
      distinguishedName(commonName),
      publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(extension)),
    )
    const whole = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, this.#key)))
    const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  }
}
