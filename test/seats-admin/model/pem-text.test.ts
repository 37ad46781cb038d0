/** PEM is read whole or not at all; a refusal names the line. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import t from 'tap'
import {
  certificatesOf,
  isPair,
  PemFault,
  type PemUse,
  readPem,
} from '../../../seats-admin/model/pem-text.ts'
import { CERTIFICATES } from '../../support/servers/tls.ts'

const fileText = (file: string) =>
  readFileSync(file, 'latin1')
    .trim()
    .replace(/^[^-].*\n/, '')
const ca = fileText(CERTIFICATES.files.ca)
const own = fileText(CERTIFICATES.files.client)
const key = fileText(CERTIFICATES.files.clientKey)
const BOM = '\xef\xbb\xbf'
const lines = ca.split('\n')
/** Of the first block. */
const count = lines.length

const read = (text: string, use: PemUse = 'authorities') => {
  const pem = readPem(text, use)
  return pem instanceof PemFault ? pem.message : certificatesOf(pem).map(({ raw }) => raw.toString('base64'))
}
const raws = (...pems: string[]) => pems.map((pem) => new X509Certificate(pem).raw.toString('base64'))

t.test('valid files are read whole', async (t) => {
  const two = `${ca}\n${own}\n`
  for (const text of [
    two,
    two.trim(),
    two.replaceAll('\n', '\r\n'),
    `subject=/CN=a\nissuer=End Certificate Authority\n${ca}\n\n# second\n  backend: -----\n${own}`,
    `${BOM}text\n${ca}\n${own}`,
    two.replaceAll('-----\n', '----- \t\n'),
    two.replaceAll(/\n(?=[A-Za-z0-9+/]+\n-----END)/g, ''),
  ]) {
    t.same(read(text), raws(ca, own))
    t.same(read(text, 'certificate'), raws(ca, own))
  }
  t.same(read(rootCertificates.join('\n')), raws(...rootCertificates))
})

t.test('what is returned is what OpenSSL reads', async (t) => {
  const odd = `text\r\n${`${ca}\n${own}`.replaceAll('\n', ' \r\n')}`
  t.equal(readPem(odd, 'authorities'), `${ca}\n${own}\n`)
  t.equal(readPem(`text\n${key.replaceAll('\n', '\r\n')}\n${own}`, 'key'), `${key}\n`)
  t.equal(readPem(`${key}\n${own}`, 'certificate'), `${own}\n`)
  const curve = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----'
  t.equal(readPem(`${curve}\n${key}`, 'key'), `${key}\n`, 'as `openssl ecparam -genkey` writes it')
  t.ok(isPair(`${own}\n`, `${key}\n`))
  t.notOk(isPair(`${ca}\n`, `${key}\n`))
})

t.test('a fault names its line, at any block', async (t) => {
  const bad = (change: (all: string[]) => unknown) => {
    const all = [...lines]
    change(all)
    return all.join('\n')
  }
  const faulty: readonly [text: string, line: number, message: RegExp][] = [
    [`${BOM}${ca}`, 1, /a byte order mark in line (\d+)/],
    [` ${ca}`, 1, /line (\d+) among other/],
    [`# ${lines.join('\n# ')}`, 1, /line (\d+) among other/],
    [bad((all) => (all[0] = '–––––BEGIN CERTIFICATE–––––')), 1, /line (\d+) among other/],
    [bad((all) => (all[0] = '-----begin certificate-----')), 1, /line (\d+) among other/],
    [bad((all) => all.push(all.pop() + 'x')), count, /line (\d+) among other/],
    [ca.replaceAll('\n', '\r'), 1, /line (\d+) among other/],
    [bad((all) => all.shift()), count - 1, /an end of a block in line (\d+) without/],
    [bad((all) => all.pop()), 1, /begins in line (\d+) and has no end/],
    [bad((all) => (all[0] = '-----BEGIN X-----')), count, /an end of a block in line (\d+) without/],
    [bad((all) => (all[1] = `-${all[1]}`)), 2, /a character in line (\d+) that is not base64/],
    [bad((all) => (all[2] = BOM + all[2])), 3, /a character in line (\d+) that is not base64/],
    [bad((all) => (all[1] = all[1]?.slice(1) ?? '')), 1, /begins in line (\d+) and has no end that fits/],
    [bad((all) => all.splice(1, 1)), 1, /a certificate in line (\d+) that cannot be parsed/],
    [bad((all) => all.splice(1, all.length - 2, 'AAAA')), 1, /a certificate in line (\d+) that cannot/],
    [bad((all) => all.splice(1, all.length - 2)), 1, /begins in line (\d+) and has no end that fits/],
    [key, 1, /a private key in line (\d+): a file of authorities/],
    [ca.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE'), 1, /a block in line (\d+) that is not used here/],
    [ca.replaceAll('CERTIFICATE', 'X509 CRL'), 1, /a block in line (\d+) that is not used here \(X509 CRL\)/],
  ]
  for (const [text, line, message] of faulty) {
    for (const [before, after] of [
      ['', ''],
      ['', `\n${ca}\n`],
      [`${ca}\n`, `\n${ca}\n`],
    ] as const) {
      const found = String(read(before + text + after))
      t.match(found, message)
      t.equal(Number(message.exec(found)?.[1]), line + (before === '' ? 0 : count), found)
      t.notMatch(found, lines[1] ?? '', 'nothing of the content')
    }
  }
  t.match(read(`${ca}${own}`), new RegExp(`end and a beginning of two blocks in line ${count}: put`))
  t.match(read(`${ca}\n${key}${own}`, 'certificate'), /end and a beginning of two blocks in line \d+/)
})

t.test('files without what is asked for', async (t) => {
  for (const use of ['authorities', 'certificate'] as const)
    for (const text of ['', 'x']) t.match(read(text, use), /^contains no PEM certificate/)
  t.match(read(key, 'certificate'), /^contains no PEM certificate/)
  for (const text of ['', 'x', ca]) t.match(readPem(text, 'key'), { message: /^contains no PEM private key/ })
})

t.test('keys', async (t) => {
  const other = fileText(CERTIFICATES.files.serverKey)
  const secret = { type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' } as const
  const encrypted = createPrivateKey(key).export(secret).toString()
  const legacy = key.replace('\n', '\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n')
  for (const [text, message] of [
    [`${own}\n${encrypted}`, new RegExp(`with a passphrase in line ${own.split('\n').length + 1}`)],
    [legacy, /with a passphrase in line 1/],
    [`${key}\n${other}`, /several private keys, in lines 1 and \d+/],
    [`${BOM}${key}`, /byte order mark in line 1/],
    [`${key}${own}`, /end and a beginning of two blocks in line/],
    [key.split('\n').toSpliced(1, 1).join('\n'), /a private key in line 1 that cannot be parsed/],
  ] as const) {
    const fault = readPem(text, 'key')
    t.match(fault, { message })
    t.notMatch(JSON.stringify(fault), key.split('\n')[1] ?? '', 'nothing of the content')
  }
})
