/** A parameter that a built-in GET does not know might be a filter: it is refused rather than ignored. */

import t from 'tap'
import { builtInOperations } from '../../src/composition.ts'
import { startWorld } from '../support/world.ts'

t.test('every built-in GET with a credential', async (t) => {
  const world = await startWorld(t)
  const paths = builtInOperations().filter(
    ({ method, requirement }) => method === 'GET' && requirement !== 'public',
  )
  t.ok(paths.length >= 20)
  for (const { path } of paths) {
    const { status, json } = await world.admin('GET', `${path.replaceAll(/\{\w+\}/g, 'x')}?tenantt=acme`)
    t.match(
      { status, json },
      { status: 400, json: { code: 'input_invalid', errors: [{ path: '/tenantt' }] } },
      path,
    )
  }
})
