"""The evidence classifier: a multinomial logistic additive model over binned columns, pairs and triples.

    score_c(x) = b_c + Σ_j t_j[bin_j(x), c] + Σ_(j,k) t_jk[cell_jk(x), c] + Σ_(j,k,l) t_jkl[cell_jkl(x), c] + rest
    P(c | x) = softmax of the scores (two classes: one score, the log odds of the second)

Numbers have bins of about equal frequency, cut once more where the classes change, categories a code each, a gap
(missing cell) a code of its own; a category never seen adds 0. Tables have Gaussian priors t_j = √v · M_j u_j with u_j
~ N(0, I): M_j M_jᵀ is the identity for categories; for the bins of a number it is a straight line + a Brownian motion +
a nugget. For a pair it is the Kronecker product of the two. The coefficients are the posterior mode,

    minimise over u   Σ_i weight_i · log loss(y_i, score(x_i)) + ½ |u|²

by L-BFGS with a diagonal preconditioner. Only expected minus observed counts per table cell leave a pass over the rows.

Three experts are fitted, all of them additive over the same bins:

1. weighted naive Bayes, b_c + Σ_j w_j · log P(bin_j | c): feature weights w ≥ 0 minimise the leave-one-out log loss
   plus a ridge;
2. main effects t_j;
3. main effects with interactions: candidate pairs are ranked by the score test Σ (G² − H)/(H + 2) over their cells,
   with G the observed minus the expected counts under main effects and H = Σ p (1 − p), and the best are fitted
   jointly with the main effects; then triples, likewise.

Inner cross-validation (stratified: 5 folds below 1,000 rows, 3 below 3,000, else one split) chooses the prior variances
of main effects, pairs and triples on a grid, by hill climbing with warm starts, and then the smallest variance within
one standard error of the best (paired over rows). It also chooses the number of interactions. Stacking on the
out-of-fold scores gives the experts weights a ≥ 0; those with a weight are refitted to all rows, and their weighted sum
is again one table per term. Texts enter as an offset: scores of their words by logistic regression and naive Bayes, out
of fold and stacked (`text_fit`).

The rest, from 2,000 rows on: boosted trees over the same codes, grown beside the tables and stacked with them where
held-out rows gain. A tree asks six questions of every row, so it is a table, too; Shapley values share it out among its
columns.

Intervals come from Laplace's approximation, seen as a Gaussian process over some of the rows. Since all that the tables
need is counted, rows can be added and taken out: the model is then weighted naive Bayes from counts until `refresh`.

Reading order:
    classifier       parameters, fit, predict, intervals; `updates` adds, forgets, merges, refreshes; `explain`, `plot`
    prepare          table → encoded rows: counts, bins, and `edges` between them; `stream` the same from files
    text_fit         words of texts: logistic regression and naive Bayes, stacked; `text_scores` what comes of it
    encoding         columns and their codes at three resolutions, priors of tables, the design of a choice of terms
    design           the linear map from coefficients to tables
    row_source       training rows in memory as blocks to sum over; `spill` the same on disk
    weighted_nb      the first expert
    fitter           fits all three experts to some rows: L-BFGS; `stacking` weighs them, by Newton's method
    search           inner cross-validation, variance search, one-standard-error rule, screening of pairs and triples
    ensemble_fit     growing the rest on `boosted_rows`; `ensemble` what comes of it
    questions        what a tree asks, by sums of leaves and codes (`leaf_sums`)
    fit              the whole fit on one page
    predictor        the fitted model and its hyperparameters; `laplace` how sure it is
    kernels          compiled loops over rows; `losses` of their scores
    codec, sql       files and queries
"""

from __future__ import annotations
