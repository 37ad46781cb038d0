/** `seatgate revoke` while a gateway is frozen, while the store goes away, and without an answer: what it says then. */

import t from 'tap'
import { startFleet } from '../../fleet/fleet.ts'
import { served } from '../../support/served.ts'
import { afar } from '../remote/from-afar.ts'

const fleet = await startFleet(t, { gateways: 2, proxies: ['store'] })
const [first, second] = [fleet.first, fleet.at(1)]
const { run } = afar(t, first, fleet.key)
const revoke = (...args: string[]) => run(['revoke', 'user', ...args, '--sub', '--yes'])

t.test('closed: both gateways are named', async (t) => {
  const { code, out, err } = await revoke('alice')
  t.equal(code, 0, err)
  t.match(out, /^ {2}cuts +.*at 2 gateways$/m)
  t.match(out, /^closed: user "alice" is revoked$/m)
  t.equal([...out.matchAll(/^.+ {2}acknowledged +[\d.]+ ms +0$/gm)].length, 2, out)
})

/** Once both gateways are on the list and answer. */
async function closed(): Promise<void> {
  await served(async () => {
    const { code, out } = await revoke('alice', '--json')
    return { status: code === 0 && JSON.parse(out).instances.length === 2 ? 200 : 503 }
  })
}

t.test('a frozen gateway: partial, it is named, and the next steps', async (t) => {
  await second.freeze()
  const { code, out, err } = await revoke('bob', '--json')
  t.equal(code, 3, err)
  const { state, instances } = JSON.parse(out)
  t.equal(state, 'partial')
  const silent = instances.find(({ cut }: { cut: number | null }) => cut === null)
  t.match(silent, { how: 'lease_ended' })
  t.match(err, 'partial: a gateway has not said that what was open is cut')
  t.match(err, new RegExp(`^  ${silent.name}: (?:off the list: it has ended|no sign of life for \\d)`, 'm'))
  t.match(err, 'End it, or let it go on, and run the command again.')
  second.thaw()
  await closed()

  // A write takes it off the list.
  await second.freeze()
  await revoke('carol', '--json')
  const shown = await revoke('bob')
  second.thaw()
  t.equal(shown.code, 3, shown.err)
  t.match(shown.out, /^partial: user "bob" is revoked$/m)
  t.match(shown.out, new RegExp(`^${silent.name} +lease ended +[\\d.]+ ms +unknown$`, 'm'))
  t.match(shown.err, new RegExp(`^  ${silent.name}: off the list: it has ended, is frozen`, 'm'))
  await closed()
})

t.test('503: it is not known, and how to find out', async (t) => {
  // The preview stores no answer.
  const atAnswer = first.toStore?.arrival('client', 'UPDATE revocations', { held: true })
  const running = revoke('carol')
  await atAnswer
  await first.toStore?.cut()
  const { code, err } = await running
  await first.toStore?.heal()
  t.equal(code, 1)
  t.match(err, /\(503 unavailable/)
  const text = err.replaceAll('\n', ' ')
  t.match(
    text,
    'It is not known whether this was revoked. Run the command again, which is harmless, or look with: seatgate revoke list --subject user:carol',
  )
  const listed = await served(async () => {
    const ran = await run(['revoke', 'list', '--subject', 'user:carol'])
    return { status: ran.code === 0 ? 200 : 503, ...ran }
  })
  t.match(listed.out, /^\w{26} +\S+Z +partial +user:carol$/m)
  const [id = ''] = /^\w{26}/m.exec(listed.out) ?? []
  t.match(await run(['revoke', 'show', id, '--receipt', 'a.receipt']), {
    code: 1,
    err: new RegExp(`revocation ${id} is partial, but the gateway has signed no receipt of it`),
  })
})
