/** See set-up.ts. */

import t from 'tap'
import { trySetUp } from './set-up.ts'
import { noRoots } from './slim-root.ts'

t.test('Node.js 24', { skip: noRoots() }, (t) => trySetUp(t, { node: '24', npm: '11' }))
