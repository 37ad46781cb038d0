/** Mutated responses. `hostile-mutations.slow.test.ts` has more. */

import t from 'tap'
import { playMutated } from '../hostile/fuzz/mutated-answers.ts'

t.test('300 mutated responses', (t) => playMutated(t, 300))
