/** By a Node.js that cannot read TypeScript: a command that reads a configuration. */

import t from 'tap'
import { noOldNode, runByOldNode } from './old-runtime.ts'

t.test('output and exit code', { skip: noOldNode }, async (t) => {
  const check = runByOldNode(t, 'check')
  t.equal(await check.ended, 0)
  t.match(check.out(), /no faults/)
})
