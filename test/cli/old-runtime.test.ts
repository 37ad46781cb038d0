/** On a Node.js that cannot read TypeScript, `seatgate` starts the project's own runtime. */

import t from 'tap'
import { until } from '../support/servers/wait.ts'
import { noOldNode, runByOldNode } from './old-runtime.ts'

t.test('exit codes, signals and output pass through', { skip: noOldNode }, async (t) => {
  t.equal(await runByOldNode(t, 'nonsense').ended, 2)
  const start = runByOldNode(t, 'start')
  await until(
    () => start.out().includes('livez'),
    () => `it does not listen: ${start.out()}`,
  )
  start.child.kill('SIGTERM')
  t.equal(await start.ended, 0)
  t.match(start.out(), '"ended"')
})
