/** An event stream is cut within two seconds of the change of its Seat: ten times that on a busy machine. */

import t from 'tap'
import { checkCut, EVENTS_ROUTE, firstEvent } from './event-stream.ts'
import { startSecured } from './support.ts'

t.test('the time until the cut', async (t) => {
  const world = await startSecured(t, { routes: [EVENTS_ROUTE], answer: firstEvent })
  const took = await checkCut(t, world)
  t.ok(took < 20_000, `${took} ms`)
})
