package text

// stopWords are words that carry no topic, in the languages of the texts. Others have
// none here: more content words make the check recall, which is the safe side.
var stopWords = WordSet(`toma tomas toman tomar tomo pasa pasan cant dont wont isnt arent wasnt werent didnt doesnt hasnt havent couldnt wouldnt shouldnt theres thats whats hes shes theyre youre ive about above after again against ain all also although always among and another any anybody anyone anything anyway are aren around
	because been before being below between both but can cannot could couldn did didn does doesn doing don done down during each either else
	enough even ever every everyone everything few for from further get gets getting got had hadn has hasn have haven having her here hers
	herself him himself his how however into isn its itself just let like likely lot lots made make makes many may maybe might mightn more
	most much must mustn myself near need needs neither never nobody nor not nothing now off often once one ones only onto other others
	ought our ours ourselves out over own perhaps please quite rather really said same say says shall shan she should shouldn since some
	somebody someone something still such take than thank thanks that the their theirs them themselves then there these they thing things
	think this those though through thus too under until upon use very want wants was wasn way well were weren what whatever when where
	whether which while who whom whose why will with within without won would wouldn yes yet you your yours yourself yourselves gonna der
	die das und oder aber ich mich mir mein meine meinen meinem meiner meins dir dich dein deine deinen ihr ihre ihren ihm ihn sie wir uns
	unser unsere euch ist bin bist sind waren wird werden wurde hat habe haben hatte hatten kann kannst können konnte soll sollte muss
	musste darf wollte mag möchte mach mache machen macht gemacht wann wer wie warum wieso welche welcher welches wen wem denn doch mal noch
	nur schon auch nicht kein keine keinen nie immer wieder mit ohne für von vom zum zur bei beim aus auf ein eine einen einem einer eines
	den dem des dass wenn weil als nach vor über unter durch gegen seit bis hier dort dann jetzt heute morgen gestern etwas alles nichts
	mehr sehr ganz gar eigentlich eben halt bitte danke gibt geht ging gehen sein seine sich man sag sage nochmal hab hast hieß wollt wollen
	wollten könnt konnten alle allen jede jeden jedes oft viel viele heut grad davon raus rein gesagt que qué quien quién cuando cuándo
	donde dónde cual cuál cuales como cómo cuanto cuanta cuantos por para con sin sobre entre hasta desde los las una uno unos unas del este
	esta esto estos estas ese esa eso esos aquel aquella mis tus sus nos conmigo contigo soy eres somos fue fueron era eran ser estar estoy
	estás está están estaba hay haber tengo tiene tienes tener tuve tenía hago hace hacer hizo puedo puede poder debo debe quiero quiere voy
	vas iba pero más menos muy mucho mucha muchos poco también tampoco aún todavía siempre nunca algo alguien nada nadie todo toda todos
	todas otro otra otros porque pues bueno entonces ahora hoy ayer mañana aquí allí así vez dije dijo decir gracias favor les une aux mon
	ton tes ses notre votre vos leur leurs cet cette ces cela qui quoi quel quelle quels quelles dont quand comment pourquoi combien est
	suis sommes êtes sont était étais étaient être été avoir avons avez ont avait avais fait faire fais font peux peut pouvoir dois doit
	veux veut vais vont aller pas plus moins très trop peu beaucoup aussi encore toujours jamais rien personne tout tous toute toutes autre
	autres avec sans pour par sur sous dans chez vers depuis pendant avant après mais donc car parce puis alors maintenant demain ici déjà
	moi toi lui elle eux nous vous ils elles dit dire merci plaît truc chose quem quando onde qual quais quanto quantos porquê com sem até
	uma umas nas pelo pela isto esse essa isso aquele aquela meu minha meus minhas teu tua seu sua seus suas nosso nossa sou são foi foram
	eram estou estão estava tem tenho tinha ter tive faço faz fazer fez posso pode devo deve quero quer vou vai vão mas muito muita muitos
	pouco também ainda sempre alguém ninguém tudo outro outra então agora hoje ontem amanhã aqui ali assim disse dizer obrigado mim comigo
	você vocês ele ela elas coisa today tonight tomorrow yesterday usual usually right whole next last good bad going went come came know
	tell told idea managed start started try trying tried keep keeps two three four five six seven ten letzte letzten nächste nächsten diese
	dieser dieses ganze ganzen komm komme kommen kommt welchen welchem gut nix total bisschen gerade wohl echt wär wäre würde hätte lange
	zwei drei vier fünf sechs sieben zehn prochain prochaine dernier dernière super seulement fois passé passe passer deux trois quatre cinq
	sept dix crois sais pense vraiment même comme bien ça cest jai dos tres cuatro cinco seis siete diez llevo lleva llevar mismo misma cada
	solo antes después luego tan tanto casi creo tambien todavia ahi manana despues duas três quatro sete dez não nao né pra pro pras pros
	aos num numa tá tou depois além alem bem mesmo mesma nem inteiro inteira já daí dessa desse nesse nessa called named took taken heißt
	heißen genannt nehme nimmt genommen appelle appelé prends prend pris chama chamado chamada chamou llama llamado llamada année années ano anos ans año años day days dia dias día días heure heures hora horas hour hours jahr jahre jahren jour journée jours
	mes meses minute minuten minutes minutos mois monat monate month months mês semaine semaines semana semanas stunde stunden tag tage
	tagen time times week weeks woche wochen year years zeit`)

// IsStopWord reports whether a word in lower case carries no topic.
func IsStopWord(word string) bool {
	return stopWords[word]
}
