/** Rotation of the keys of signed identity: in all workers, by a changed configuration and by a changed file. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { HEADER, keyFile, newKey, verified } from '../identity/support.ts'
import { Client } from '../support/client.ts'
import { writeConfiguration } from '../support/configuration.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'

const KEYS = '/.well-known/seatgate/jwks.json'

/** On connections of their own, so that each worker answers some. */
async function ask(world: World, path: string, headers: Record<string, string> = {}): Promise<string> {
  const client = new Client(world.port)
  const { status, body } = await client.send('GET', path, headers)
  client.close()
  if (status !== 200) throw new Error(`${status} ${body}`)
  return body
}

const kidsOf = (keySet: string): string[] => JSON.parse(keySet).keys.map(({ kid }: { kid: string }) => kid)

t.test('by configuration: what caches hold verifies at every step', async (t) => {
  const [old, next] = [keyFile(t), keyFile(t)]
  const line = (...keys: string[]) => `identity: { lifetime: 5m, keys: [${keys.join(', ')}] }`
  const world = await startWorld(t, { top: ['workers: 2', line(old)] })
  const text = readFileSync(world.config.file, 'utf8')
  const headers = { authorization: `Bearer ${await world.token([])}` }
  /** What a verifier has cached before the step, and every token of all workers behind it. */
  const step = async (line: string, kids: number) => {
    const cached = await ask(world, KEYS)
    writeFileSync(world.config.file, text.replace(/identity: .*/, line))
    await world.reload()
    const tokens: string[] = []
    for (let i = 0; i < 6; i++) {
      await ask(world, '/v1/me', headers)
      t.equal(kidsOf(await ask(world, KEYS)).length, kids, 'in each worker')
      tokens.push(String(world.upstream.seen.at(-1)?.headers[HEADER]))
    }
    for (const token of tokens) await verified(token, cached, 'main')
    return [...new Set(tokens.map((token) => decodeProtectedHeader(token).kid))]
  }
  const [first] = kidsOf(await ask(world, KEYS))
  t.strictSame(await step(line(old, next), 2), [first], 'published, not in use')
  const [, second] = kidsOf(await ask(world, KEYS))
  t.strictSame(await step(line(next, old), 2), [second], 'in use')
  t.strictSame(await step(line(next), 1), [second], 'the old one is gone')
  writeFileSync(world.config.file, text.replace(/identity: .*/, line(next, '/nonexistent.pem')))
  await t.rejects(world.reload(), /cannot be read: ENOENT/)
  t.strictSame(kidsOf(await ask(world, KEYS)), [second], 'a fault changes nothing')
})

t.test('by file: a changed one is taken, a faulty one is reported, and the old one serves on', async (t) => {
  const folder = serverFolder(t, 'identity')
  writeConfiguration(folder, { top: ['workers: 2', 'identity: { keys: [key.pem] }'] })
  const write = (key: string) => writeFileSync(join(folder, 'key.pem'), key)
  write(newKey())
  const gateway = await startGatewayProcess(t, { folder })
  const kids = async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => fetch(`${gateway.origin}${KEYS}`, CLOSE)),
    )
    return [...new Set((await Promise.all(answers.map((each) => each.text()))).flatMap(kidsOf))]
  }
  const first = await kids()
  t.equal(first.length, 1, 'workers have the same key')
  write(newKey())
  await until(async () => (await kids()).join() !== first.join(), 'the new key')
  await until(async () => (await kids()).length === 1, 'the new key, of all workers')
  const [second] = await kids()

  write(newKey('EdDSA'))
  await until(() => gateway.log.includes('is not a key for ES256'), 'a line about a key of another algorithm')
  t.strictSame(await kids(), [second])
  rmSync(join(folder, 'key.pem'))
  gateway.signal('SIGHUP')
  await until(() => gateway.log.includes('cannot be read: ENOENT'), 'a line about the missing key')
  t.strictSame(await kids(), [second])
  write(newKey())
  gateway.signal('SIGHUP')
  await until(async () => (await kids()).join() !== second, 'the third key')
  t.notMatch(gateway.log, /PRIVATE|MIGH/, 'no key in the log')
})

const CLOSE = { headers: { connection: 'close' } }
