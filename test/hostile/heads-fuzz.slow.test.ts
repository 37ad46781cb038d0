/** More fuzzed headers and paths than in `heads-fuzz.test.ts`. */

import t from 'tap'
import { fuzzHeads } from './fuzz/heads.ts'

t.test('paths, headers, tokens and bodies', (t) => fuzzHeads(t, 1500))
