/** The messages of the page about AuthZEN, sent to a decision listener and, where they concern Seats, to the front door. */

import t from 'tap'
import { signIn, startPep } from '../external-authorization/authzen/support.ts'
import { exchangesOf } from './messages.ts'
import { placeOf } from './pages.ts'
import { differences } from './same.ts'

t.test('docs/authzen.md', async (t) => {
  const pep = await startPep(t)
  const { world } = pep
  await signIn(world, { alice: [await world.seat('Viewer', ['main'], ['trainings:read'])] })
  const told = (text: string) =>
    text.replaceAll('$KEY', pep.key).replaceAll('$ADMIN', world.keys['acme'] ?? '')
  for (const { block, method, target, headers, body, status, shown } of exchangesOf('docs/authzen.md')) {
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, told(value)]))
    const asked = target.startsWith('/access/')
    const answer = asked
      ? await pep.send(method, target, sent, body)
      : await world.client.send(method, target, sent, body)
    t.equal(answer.status, status, `${placeOf(block)}: ${answer.body}`)
    t.same(differences(shown, answer.json), [], placeOf(block))
  }
})
