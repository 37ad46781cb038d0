/** A secret from a file or a shell often has a line end or quotes around it, which the programs that sign tokens leave out. */

import t, { type Test } from 'tap'
import { Folder } from './support.ts'

const TEXT = 'x'.repeat(40)
const CONFIG = `tenants: { acme: { token: { secrets: ['\${SECRET}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
`

/** @param places of warnings */
async function read(t: Test, value: string, places: readonly string[] = []): Promise<string> {
  const folder = new Folder(t, { 'gateway.config.yaml': CONFIG })
  t.notMatch(await folder.warningsAt(t, places, { SECRET: value }), TEXT)
  const { config } = await folder.load({ SECRET: value })
  return Buffer.from(config?.tenants.get('acme')?.token.secrets[0] ?? []).toString()
}

t.test('one line end at the end of a variable is left out', async (t) => {
  for (const end of ['\n', '\r\n', '']) t.equal(await read(t, TEXT + end), TEXT, JSON.stringify(end))
  const raw = Buffer.alloc(32, 7)
  t.equal(await read(t, `base64url:${raw.toString('base64url')}\n`), raw.toString(), 'also of raw bytes')
})

t.test('what else wraps a secret is a warning, at its place and without the secret', async (t) => {
  for (const value of [
    `${TEXT}\n\n`,
    ` ${TEXT}`,
    `${TEXT}\t`,
    `\u00a0${TEXT}`,
    `"${TEXT}"`,
    `'${TEXT}'`,
    `'${TEXT}'\n`,
    `\`${TEXT}\``,
    `${TEXT}\u0007${TEXT}`,
    `${TEXT}\n${TEXT}`,
  ])
    t.equal(
      await read(t, value, ['secret_wrapped 1:39']),
      value.replace(/\n$/, ''),
      'the value counts as it is',
    )
  for (const value of [`"${TEXT}`, `${TEXT}'`, `a "${TEXT}" b`]) await read(t, value)
})
