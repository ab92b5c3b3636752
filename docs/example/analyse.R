# Estimates the same effect as analyse.py, with what R itself brings.
#
# MRTAnalysis::wcls() reads the same columns and corrects its standard errors for
# few people.
folder <- commandArgs(trailingOnly = TRUE)[1]
source(file.path(folder, "load.R"))

decisions <- load_table("decisions", folder)
points <- decisions[decisions$availability & !is.na(decisions$outcome), ]
share <- mean(points$rand_prob)
points$day <- points$day_in_study / max(points$day_in_study) - 0.5
points$centred <- points$intervention - share
points$weight <- ifelse(points$intervention == 1, share / points$rand_prob, (1 - share) / (1 - points$rand_prob))

fit <- lm(outcome ~ day + centred, data = points, weights = weight)
terms <- model.matrix(fit)
scores <- rowsum(terms * points$weight * residuals(fit), points$participant)
bread <- solve(crossprod(terms, terms * points$weight))
people <- nrow(scores)
covariance <- bread %*% crossprod(scores) %*% bread * people / (people - ncol(terms))

effect <- coef(fit)[["centred"]]
error <- sqrt(covariance["centred", "centred"])
cat(sprintf(
  "%d decision points of %d people: effect %.3f, 95 %% about %.3f to %.3f\n",
  nrow(points), people, effect, effect - 2 * error, effect + 2 * error
))
