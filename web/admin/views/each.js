// The same for many, one after the other, for lists of which the server knows no filter.

// each does it for every row and counts. What has gone meanwhile is nothing to do; whoever
// is logged out stops.
export async function each(words, rows, one, progress) {
  let done = 0, gone = 0, failed = 0;
  for (const row of rows) {
    try {
      await one(row);
      done++;
    } catch (problem) {
      if (problem.status === 401 || problem.status === 403 || problem.status === 0) throw problem;
      if (problem.status === 404 || problem.status === 409) gone++;
      else failed++;
    }
    progress(done + gone + failed, rows.length);
  }
  return [[words.eachDone, done], [words.eachGone, gone], [words.eachFailed, failed]];
}
