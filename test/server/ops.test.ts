/** The operators' listener, as those that scrape it see it. */

import t from 'tap'
import { openOps } from '../../src/server/ops.ts'

const source = {
  readiness: () => ({ ready: true, parts: {} }),
  metrics: async () => ({ type: 'text/plain', text: 'a 1\n' }),
}

t.test('a connection is kept for longer than between two scrapes', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const answer = await fetch(`http://127.0.0.1:${ops.address.port}/metrics`)
  t.equal(await answer.text(), 'a 1\n')
  t.equal(answer.headers.get('keep-alive'), 'timeout=75')
})

t.test('what is not GET or HEAD is told so', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const answer = await fetch(`http://127.0.0.1:${ops.address.port}/metrics`, { method: 'POST' })
  t.equal(answer.status, 405)
  t.equal(answer.headers.get('allow'), 'GET, HEAD')
})
