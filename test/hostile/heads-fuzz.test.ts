/** Fuzzed headers and paths. `heads-fuzz.slow.test.ts` has more of them. */

import t from 'tap'
import { fuzzHeads } from './fuzz/heads.ts'

t.test('paths, headers, tokens and bodies', (t) => fuzzHeads(t, 250))
