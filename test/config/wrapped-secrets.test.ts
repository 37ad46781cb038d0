/** A secret from a file or a shell often has a line end or quotes around it, which the programs that sign tokens leave out. */

import t from 'tap'
import { Folder } from './support.ts'

const TEXT = 'x'.repeat(40)
const CONFIG = `tenants: { acme: { token: { secrets: ['\${SECRET}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
`

async function read(value: string) {
  const { config, faults, warnings } = await new Folder(t, { 'gateway.config.yaml': CONFIG }).load({
    SECRET: value,
  })
  const [secret] = config?.tenants.get('acme')?.token.secrets ?? []
  return {
    faults: faults.map(({ message }) => message),
    warnings: warnings.map(({ code, message }) => `${code} ${message}`),
    text: secret === undefined ? null : Buffer.from(secret).toString(),
  }
}

t.test('one line end at the end of a variable is left out', async (t) => {
  for (const end of ['\n', '\r\n', ''])
    t.same(await read(TEXT + end), { faults: [], warnings: [], text: TEXT }, JSON.stringify(end))
  const raw = Buffer.alloc(32, 7)
  const { text } = await read(`base64url:${raw.toString('base64url')}\n`)
  t.equal(text, raw.toString(), 'also of raw bytes')
})

t.test('what else wraps a secret is a warning, at its place and without the secret', async (t) => {
  for (const [value, says] of [
    [`${TEXT}\n\n`, 'begins or ends with white space'],
    [` ${TEXT}`, 'begins or ends with white space'],
    [`${TEXT}\t`, 'begins or ends with white space'],
    [`\u00a0${TEXT}`, 'begins or ends with white space'],
    [`"${TEXT}"`, 'stands in quotes'],
    [`'${TEXT}'`, 'stands in quotes'],
    [`'${TEXT}'\n`, 'stands in quotes'],
    [`\`${TEXT}\``, 'stands in quotes'],
    [`${TEXT}\u0007${TEXT}`, 'has a control character'],
    [`${TEXT}\n${TEXT}`, 'has a control character'],
  ] as const) {
    const { faults, warnings, text } = await read(value)
    t.same(faults, [], JSON.stringify(value))
    t.equal(warnings.length, 1)
    t.match(warnings[0], `secret_wrapped secrets: the secret ${says}`)
    t.notMatch(warnings[0], TEXT)
    t.equal(text, value.replace(/\n$/, ''), 'the value counts as it is')
  }
  for (const value of [`"${TEXT}`, `${TEXT}'`, `a "${TEXT}" b`])
    t.same((await read(value)).warnings, [], value)
})
