/** `seatgate revoke --from`: what it writes, what it leaves, and what it refuses as a whole. `restore.slow.test.ts` has the drill. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { keyFile } from '../../identity/support.ts'
import { startWorld } from '../../support/world.ts'
import { CONFIG, folderWith } from '../command-line.ts'
import { seatgateHere } from '../in-process.ts'
import { type Claims, ID, signing } from '../receipt/made-receipts.ts'

const DAY = 86_400_000
const OTHER = '01KAJ0Z1V5Q8T2C0W7M3E9R4XE'
const until = new Date(Date.now() + DAY).toISOString()
const at = (ms: number) => new Date(Date.now() + ms).toISOString()

/** A folder with a store, and what its configuration signs. */
async function restored(t: Test, files: (receipt: (more?: Claims) => string) => Record<string, string>) {
  const { config, jwks, receipt } = signing()
  const cwd = folderWith(t, {
    'gateway.config.yaml': `${CONFIG}identity: { keys: [key.pem], issuer: "${config.issuer}" }\n`,
    'key.pem': config.keys[0] ?? '',
    'keys.json': jwks,
    'routes/a.yaml': 'upstream: trainings\nroutes: {}\n',
    ...files(receipt),
  })
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const stored = async () => {
    const store = await openStore({ kind: 'sqlite', path: join(cwd, 'seatgate.db'), timeout: 60_000 })
    const { data } = await store.listRevocations('acme', { limit: 100, after: null, subject: null })
    const blocks = await store.listBlocks('acme', { limit: 100, after: null })
    await store.close()
    return { revocations: data, blocks: blocks.data }
  }
  return { cwd, stored, run: (...args: string[]) => seatgateHere(cwd, ['revoke', ...args]) }
}

t.test('a folder: in order of time, once, with time, id and reason of the receipt', async (t) => {
  const [first, second] = [at(-2 * DAY), at(-DAY)]
  const { run, stored } = await restored(t, (receipt) => ({
    'receipts/b': receipt({ at: first, until, reason: 'first' }),
    'receipts/a': `${receipt({ id: OTHER, at: second, subject: { issuer: 'https://i.example' }, what: 'existing', reason: null })}\n`,
    // The end of its block has passed.
    late: receipt({ id: '01KAJ0Z1V5Q8T2C0W7M3E9R4XF', subject: { user: 'bob' }, until: at(-1000) }),
  }))
  const ran = await run('--from', 'receipts/', 'late')
  t.equal(ran.code, 0, ran.err)
  t.match(
    ran.out,
    /^voids up to +tenant +subject +sessions +API keys\n\S+Z +acme +user:bob +0 +0\n[^]*acme +user:anna +0 +0\n\S+Z +acme +issuer:https:\/\/i\.example +0 +0\n\nuser "anna" of acme is blocked again: "seatgate users unblock"/,
  )
  t.notMatch(ran.out, '"bob" of acme is blocked')
  t.match(ran.out, /\n3 revocations made again, 0 that the store has\n$/)
  const { revocations, blocks } = await stored()
  t.match(
    revocations
      .filter(({ id }) => [ID, OTHER].includes(id))
      .map((each) => [each.id, new Date(each.at).toISOString(), each.reason]),
    [
      [OTHER, second, null],
      [ID, first, 'first'],
    ],
  )
  t.same(
    blocks.map(({ user, until: end }) => [user, new Date(end ?? 0).toISOString()]),
    [['anna', until]],
  )
  const again = await run('--from', 'receipts', '--from', 'receipts/a')
  t.match(again, { code: 0, out: '0 revocations made again, 3 that the store has\n', err: '' })
  t.equal((await stored()).revocations.length, 3)
})

t.test('a long subject is cut, so that each revocation has one line', async (t) => {
  const user = 'https://token.actions.githubusercontent.com|repo:acme/shop:ref:refs/heads/main'
  const { run } = await restored(t, (receipt) => ({ a: receipt({ subject: { user }, what: 'existing' }) }))
  const { out } = await run('--from', 'a')
  t.match(out, /^\S+Z {2}acme {4}user:https:\/\/tok\S+… {2}0 {9}0$/m)
  for (const line of out.split('\n')) t.ok(line.length <= 80 && !line.endsWith(' '), line)
})

t.test('a receipt that does not verify or fit: nothing is written', async (t) => {
  const others = signing()
  const { cwd, run, stored } = await restored(t, (receipt) => ({
    good: receipt(),
    'withdrawn/a': others.receipt({ id: OTHER }),
    'withdrawn.json': others.jwks,
    'other issuer': signing('https://elsewhere.example').receipt(),
    'other tenant': receipt({ tenant: 'nobody' }),
    changed: `${receipt().slice(0, receipt().lastIndexOf('.'))}${receipt({ id: OTHER }).replace(/^.*(?=\.)/, '')}`,
    empty: '',
  }))
  writeFileSync(join(cwd, 'elsewhere.json'), signing('https://elsewhere.example').jwks)
  for (const [file, fault] of [
    ['withdrawn', 'none of the keys has its kid'],
    ['other tenant', 'it is of tenant nobody, which is unknown'],
    ['changed', 'its signature is not of the key that it names'],
    ['empty', 'it is no JWS in compact form'],
  ] as const) {
    const ran = await run('--from', 'good', file)
    t.match(ran, { code: 3, out: '', err: `${fault}\n` }, file)
    t.match(ran.err, 'nothing was written: 1 receipt cannot be applied\n')
  }
  const elsewhere = signing('https://elsewhere.example')
  writeFileSync(join(cwd, 'foreign'), elsewhere.receipt())
  writeFileSync(join(cwd, 'foreign.json'), elsewhere.jwks)
  t.match(await run('--from', 'foreign', '--jwks', 'foreign.json'), {
    code: 3,
    err: /foreign: it is of issuer https:\/\/elsewhere\.example, not of https:\/\/gw\.example/,
  })
  t.same((await stored()).revocations, [])
  const ran = await run('--from', 'withdrawn', '--jwks', 'withdrawn.json')
  t.match(ran, { code: 0, out: /^1 revocation made again/m }, 'with the key that was withdrawn')
})

t.test('what cannot be read', async (t) => {
  const { cwd, run, stored } = await restored(t, (receipt) => ({
    good: receipt(),
    'folder/sub/a': receipt(),
  }))
  const plain = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/a.yaml': 'upstream: trainings\nroutes: {}\n',
  })
  const empty = folderWith(t, {})
  for (const [args, err] of [
    [['--from', empty], /nothing was written: there is no receipt in/],
    [['--from', 'good', 'missing'], /nothing was written: missing cannot be read: ENOENT/],
    [['--from', 'folder'], /nothing was written: folder\/sub cannot be read: EISDIR/],
    [['--from', 'good', '--jwks', 'missing'], /nothing was written: missing cannot be read: ENOENT/],
    [
      ['--from', 'good', '--config', join(plain, 'gateway.config.yaml')],
      /has no identity, whose keys sign receipts/,
    ],
  ] as const)
    t.match(await run(...args), { code: 1, out: '', err })
  t.same((await stored()).revocations, [])
  t.match(await seatgateHere(cwd, ['revoke', '--from']), { code: 2, err: /argument missing|--from/ })
})

t.test('while a gateway runs: the token is refused when the command ends', async (t) => {
  const world = await startWorld(t, { top: [`identity: { keys: ["${keyFile(t)}"] }`] })
  const token = await world.token([], { sub: 'anna', now: Date.now() - 60_000 })
  const code = async () =>
    (await world.client.send('GET', '/v1/me', { authorization: `Bearer ${token}` })).json.code
  const made = await world.admin('POST', '/v1/revocations', { subject: { user: 'bob' } })
  t.not(await code(), 'token_revoked')
  const { publicKeysOf, receiptSigner } = await import('../../../src/identity/receipt.ts')
  const { identity } = world.config
  if (identity === null) throw new Error('there is no identity')
  t.ok(publicKeysOf(identity))
  const { receipt: _receipt, ...answer } = made.json
  const claims = {
    tenant: 'acme',
    ...answer,
    id: ID,
    subject: { user: 'anna' },
    audit: { seq: 1, hash: 'a' },
  }
  writeFileSync(join(world.folder, 'a.receipt'), receiptSigner(identity)(claims))
  const ran = await seatgateHere(world.folder, ['revoke', '--from', 'a.receipt'], {
    GLOBEX_SECRET: process.env['GLOBEX_SECRET'] ?? 'a secret of more than thirty-two bytes, of globex',
  })
  t.equal(ran.code, 0, ran.err)
  t.equal(await code(), 'token_revoked')
})
